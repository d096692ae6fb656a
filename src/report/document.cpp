#include "report/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "io/result_folder.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/text.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::report {
namespace {

constexpr std::string_view format_of_results = "spikeweave result";
constexpr std::int64_t version_of_results = 2;

// Tables that no page shows.
constexpr std::array<std::string_view, 7> only_in_files{
    "pairs", "untested", "occurrences", "activations", "spectrum_entries", "iterations", "bursts"};

bool is_shown(std::string_view name) {
    return std::ranges::find(only_in_files, name) == only_in_files.end();
}

json small_members_of(const document& from) {
    json members = head_of(from.kind);
    members["run"] = from.run;
    members["unit_names"] = from.unit_names;
    members.update(from.values);
    return members;
}

// Six digits, as in the files for people.
json rounded(const json& value) {
    if (value.is_number_float()) return json::parse(number_text(value.get<double>()));
    if (!value.is_array()) return value;
    json out = json::array();
    for (const json& one : value) out.push_back(rounded(one));
    return out;
}

json shown_columns(json columns) {
    for (auto& [name, values] : columns.items()) {
        if (!values.is_array()) continue;
        if (values.size() > most_rows_of_a_page)
            values.erase(values.begin() + most_rows_of_a_page, values.end());
        values = rounded(values);
    }
    return columns;
}

bool is_table(const json& value) {
    return value.is_object() && value.contains("total");
}

// Whether all units are among so many. Lists of units hold numbers.
bool are_units(const json& value, std::size_t units) {
    if (value.is_array())
        return std::ranges::all_of(value, [&](const json& one) { return are_units(one, units); });
    return value.is_number_unsigned() && value < units;
}

// @throws invalid_argument
void check_table(const std::string& name, const json& table, std::size_t units) {
    std::size_t rows = 0;
    bool is_first = true;
    for (const auto& [column, values] : table.items()) {
        if (!values.is_array()) continue;
        if (!is_first && values.size() != rows)
            throw invalid_argument(fmt::format("the columns of {} have unequal lengths", name));
        rows = values.size();
        is_first = false;
        const bool has_units =
            column == "units" || column == "unit" || column == "from" || column == "to";
        if (has_units && !are_units(values, units) && name != "untested")
            throw invalid_argument(
                fmt::format("{} has a unit that is not among the {} units", name, units));
    }
}

constexpr std::array<std::string_view, 9> kinds{
    "episodes", "windows", "spade", "sort", "track", "assemblies", "bursts", "replay", "compare"};

// @throws invalid_argument, json::exception
void check(const json& document) {
    const auto& kind = document.at("kind").get_ref<const std::string&>();
    if (std::ranges::find(kinds, kind) == kinds.end())
        throw invalid_argument(fmt::format("{} is not a kind of result", io::shown(kind)));
    const auto names = document.at("unit_names").get<std::vector<std::string>>();
    for (const std::string& name : names)
        if (!io::is_printable_utf8(name))
            throw invalid_argument(fmt::format(
                "found the unit {}, expected printable text in UTF-8", io::shown(name)));
    const std::size_t units = names.size();
    if (!document.at("run").is_object()) throw invalid_argument("it has no record of the run");
    if (kind != "compare" && kind != "track") read_page_spikes(document);
    if (kind != "compare" && kind != "windows" && kind != "sort" &&
        !is_table(document.at(kind == "spade"   ? "patterns"
                              : kind == "track" ? "neurons"
                                                : kind)))
        throw invalid_argument(fmt::format("it has no table of {}", kind));
    if (kind == "replay") document.at("run").at("replay").at("events_s");
    for (const auto& [name, value] : document.items())
        if (is_table(value) && kind != "sort" && kind != "track") check_table(name, value, units);
}

}  // namespace

json head_of(std::string_view kind) {
    return {{"format", format_of_results}, {"version", version_of_results}, {"kind", kind}};
}

void write_document(const document& from, const std::function<void(std::string_view)>& write,
                    const execution& run) {
    std::string text = compact(small_members_of(from));
    text.pop_back();
    write(text);
    for (const result_table& table : from.tables) {
        if (table.use == table_use::file_only) continue;
        write(",\n" + json(table.name).dump() + ':');
        write_columns(table, write, run);
    }
    write("}\n");
}

std::string whole_text(const document& from, const execution& run) {
    std::string out;
    write_document(
        from, [&](std::string_view piece) { out += piece; }, run);
    return out;
}

void write_result(const io::result_folder& out, const document& from, bool with_page,
                  const execution& run) {
    const auto write_file = [&](const std::string& name, const auto& write_into) {
        io::atomic_file file(out.file(name));
        write_into([&](std::string_view piece) { file.write(piece); });
        file.commit();
    };
    for (const result_table& table : from.tables)
        if (table.use != table_use::document_only)
            write_file(table.name + ".tsv",
                       [&](const auto& write) { write_lines(table, from.unit_names, write, run); });
    write_file("result.json", [&](const auto& write) { write_document(from, write, run); });
    out.write("run.json", text_of(from.run));
    const bool is_small =
        !from.values.contains("spikes") || from.values["spikes"]["number"] <= most_spikes_of_a_page;
    if (!with_page || !is_small) return;
    if (run.on_progress) run.on_progress({"writing the page"});
    out.write("report.html", page_of(page_text(from, run)));
}

void write_folder(const std::filesystem::path& folder, result_kind kind, const document& from,
                  bool with_page, bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, files_of(kind));
    write_result(out, from, with_page, run);
    out.commit(run.stop);
}

std::string page_text(const document& from, const execution& run) {
    json shown = small_members_of(from);
    for (const result_table& table : from.tables)
        if (table.use != table_use::file_only && is_shown(table.name))
            shown[table.name] = columns_of(table, most_rows_of_a_page, run);
    return page_text(std::move(shown));
}

std::string page_text(json document) {
    json shown = json::object();
    for (auto& [name, value] : document.items())
        if (is_shown(name)) shown[name] = is_table(value) ? shown_columns(std::move(value)) : value;
    return compact(shown);
}

json read_document(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "result.json";
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown))
        throw io::file_error(folder,
                             "this is no result of spikeweave episodes, windows, spade, sort, "
                             "track, assemblies, bursts, replay or compare: it has no result.json");
    std::ifstream in = io::open_found(path);
    json document = json::parse(in, nullptr, false);
    if (!document.is_object() || document.value("format", "") != format_of_results)
        throw io::file_error(path, "it is damaged: expected the document of a result");
    if (document.value("version", json()) != version_of_results)
        throw io::file_error(path, "it is of another version of spikeweave: repeat the command");
    try {
        check(document);
    } catch (const json::exception& error) {
        throw io::file_error(path, "it is damaged: " + reason_of(error));
    } catch (const invalid_argument& error) {
        throw io::file_error(path, fmt::format("it is damaged: {}", error.what()));
    }
    return document;
}

}  // namespace spikeweave::report
