#include "spikeweave/report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "io/result_table.hpp"
#include "report/run_json.hpp"
#include "report/several.hpp"
#include "report/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using io::result_table;
using report::json;

// The tables of each kind of result, the main one first.
constexpr std::array<std::pair<std::string_view, std::array<std::string_view, 4>>, 9> tables{{
    {"episodes", {"episodes", "circuit"}},
    {"windows", {"windows", "window_episodes", "window_circuits"}},
    {"spade", {"patterns", "signatures"}},
    {"sort", {"units"}},
    {"track", {"neurons", "matches", "relations", "sessions"}},
    {"assemblies", {"assemblies", "activations", "search"}},
    {"bursts", {"summary", "units", "network_bursts", "bursts"}},
    {"replay", {"replay", "events"}},
    {"compare", {"differences"}},
}};

// Options that do not change what is found, or are drawn by chance.
constexpr std::array<std::string_view, 8> options_without_effect{
    "threads", "device", "max_memory", "seed", "strategy", "compaction", "split", "pairs"};

struct tabled_result {
    std::filesystem::path folder;
    std::string name;
    std::string kind;
    json parameters;
    /// The time in which findings were counted, as text in seconds; empty if the command has none.
    std::string observed;
};

// The columns before those of the results.
struct tabled_results {
    std::vector<tabled_result> members{};
    std::string_view table{};

    std::filesystem::path table_of(const tabled_result& one) const {
        return one.folder / fmt::format("{}.tsv", table);
    }
};

// The content of `run.json` in a result folder that has this table; null if it is no such folder.
json read_run(const std::filesystem::path& folder, std::string_view table) {
    std::ifstream in = io::open_found(folder / "run.json");
    json run = json::parse(in, nullptr, false);
    std::error_code unknown;
    if (!in || !run.is_object() || !std::filesystem::exists(folder / table, unknown))
        return nullptr;
    return run;
}

// The kind of a result and the record of its run. @throws io_error if the folder is no result.
std::pair<std::string, json> kind_of(const std::filesystem::path& folder) {
    for (const auto& [table, kind] :
         {std::pair("episodes.tsv", "episodes"), std::pair("windows.tsv", "windows"),
          std::pair("patterns.tsv", "spade"), std::pair("sorting.npz", "sort"),
          std::pair("neurons.tsv", "track"), std::pair("assemblies.tsv", "assemblies"),
          std::pair("bursts.tsv", "bursts"), std::pair("replay.tsv", "replay"),
          std::pair("differences.tsv", "compare")})
        if (json run = read_run(folder, table); !run.is_null()) return {kind, std::move(run)};
    throw io::file_error(
        folder,
        "this is no result of spikeweave episodes, spade, sort, track, assemblies, bursts, replay "
        "or compare");
}

std::string observed_time(const json& run) {
    const json& input = run.at("input");
    double seconds = 0;
    if (run.contains("hold_out"))
        seconds = run["hold_out"].at("tested_s");
    else if (input.contains("observed_s"))
        seconds = input["observed_s"];
    else if (input.contains("end_s"))
        seconds = input["end_s"].get<double>() - input.at("begin_s").get<double>();
    else
        seconds = input.value("length_s", 0.0);
    return seconds > 0 ? fmt::format("{:.6f}", seconds) : std::string();
}

std::vector<tabled_result> read_members(std::span<const std::filesystem::path> folders) {
    if (folders.empty()) throw invalid_argument("a table is of at least one result");
    const std::vector<std::string> names = report::names_of_folders(folders);
    std::set<std::filesystem::path> places;
    std::vector<tabled_result> members;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const auto [kind, run] = kind_of(folders[i]);
        if (!places.insert(std::filesystem::canonical(folders[i])).second)
            throw invalid_argument(fmt::format("'{}' is given twice", folders[i].string()));
        if (!io::is_printable_utf8(names[i]))
            throw io::file_error(folders[i], "its name is no printable text in UTF-8");
        if (!members.empty() && kind != members[0].kind)
            throw invalid_argument(
                fmt::format("'{}' is a result of {} and '{}' is one of {}: a table is of results "
                            "of one kind",
                            folders[0].string(), members[0].kind, folders[i].string(), kind));
        try {
            const auto& parameters = run.at("parameters").get_ref<const json::object_t&>();
            members.push_back({folders[i], names[i], kind, parameters, observed_time(run)});
        } catch (const json::exception& error) {
            throw io::file_error(folders[i] / "run.json", report::reason_of(error));
        }
    }
    return members;
}

std::string_view table_named(std::string_view wanted, std::string_view kind) {
    const auto* const found = std::ranges::find(tables, kind, [](auto& one) { return one.first; });
    std::vector<std::string_view> names(found->second.begin(), found->second.end());
    std::erase(names, "");
    if (wanted.empty()) return names.front();
    const auto name = std::ranges::find(names, wanted);
    if (name == names.end())
        throw invalid_argument(fmt::format("`of`: results of {} have no table {}, but {}", kind,
                                           io::shown(wanted), fmt::join(names, ", ")));
    return *name;
}

// Findings of different searches can hardly be compared, but may be meant.
void warn_of_options(const std::vector<tabled_result>& members,
                     std::vector<std::string>& warnings) {
    std::set<std::string> differ;
    const json& first = members[0].parameters;
    for (const tabled_result& one : members)
        for (const json* const list : {&first, &one.parameters})
            for (const auto& [name, value] : list->items())
                if (one.parameters.value(name, json()) != first.value(name, json()) &&
                    std::ranges::find(options_without_effect, name) == options_without_effect.end())
                    differ.insert(fmt::format("`{}`", name));
    if (!differ.empty())
        warnings.push_back(
            fmt::format("the results are of different options: {}", fmt::join(differ, ", ")));
}

bool is_significant(std::string_view cell) {
    return cell != "no" && cell != "none";
}

// The column of significance; in a comparison it names the change. Empty if none
// does.
std::string_view significance_column(const result_table& rows) {
    for (const std::string_view name : {"significant", "change"})
        if (rows.has(name)) return name;
    return {};
}

// All columns of the results, in the order in which they come.
std::vector<std::string> columns_of(const tabled_results& all, const table_options& options) {
    std::vector<std::string> columns;
    for (const tabled_result& one : all.members) {
        const result_table rows(all.table_of(one));
        for (const std::string& name : rows.columns())
            if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
        if (options.significant && significance_column(rows).empty())
            throw invalid_argument(
                fmt::format("`significant`: '{}' does not say what is significant",
                            all.table_of(one).string()));
    }
    return columns;
}

// Writes the rows of one result.
class row_writer {
public:
    row_writer(io::atomic_file& to, const tabled_results& all, std::vector<std::string> columns,
               const table_options& options)
        : to_(to), all_(all), columns_(std::move(columns)), options_(options) {
        has_time_ =
            std::ranges::any_of(all.members, [](const auto& one) { return !one.observed.empty(); });
        std::string line = "recording";
        if (has_time_) line += "\tobserved_s";
        for (const std::string& name : columns_) line += '\t' + name;
        to_.write(line + '\n');
    }

    /// Returns the number of rows.
    std::uint64_t write(const tabled_result& one, const std::stop_token& stop) {
        std::string begin = one.name;
        if (has_time_) begin += '\t' + one.observed;
        result_table rows(all_.table_of(one));
        const std::string_view significance = significance_column(rows);
        std::uint64_t written = 0;
        for (std::size_t row = 0; rows.next(); ++row) {
            core::stop_at_times(row, stop);
            if (options_.significant && !is_significant(rows[rows.column(significance)])) continue;
            line_ = begin;
            for (const std::string& name : columns_) {
                line_ += '\t';
                if (!rows.has(name)) continue;
                const std::string& cell = rows[rows.column(name)];
                // Units may be called "-".
                if (cell != "-" || name == "units" || name == "from" || name == "to") line_ += cell;
            }
            to_.write(line_ + '\n');
            ++written;
        }
        return written;
    }

private:
    io::atomic_file& to_;
    const tabled_results& all_;
    std::vector<std::string> columns_;
    const table_options& options_;
    bool has_time_ = false;
    std::string line_;
};

}  // namespace

option_list describe(table_options& options) {
    option_list list;
    list.begin_group("Options");
    list.add("of", options.of,
             "which table of each folder to take: episodes or circuit; windows, "
             "window_episodes or window_circuits; patterns or signatures; units; neurons, matches, "
             "relations or sessions; assemblies, activations or search; summary, units, "
             "network_bursts or bursts; replay or events; "
             "differences")
        .by_default("the first of these that the results have")
        .written("NAME");
    list.add("significant", options.significant, "take only rows that are significant");
    list.add_moved({"sheet"},
                   "merge the table with your sheet by the column recording, by pandas.merge in "
                   "Python or merge in R");
    return list;
}

std::string table_summary::text() const {
    std::string out = fmt::format("{} of {}", report::plural(rows, "row", "rows"),
                                  report::plural(recordings, "recording", "recordings"));
    if (!without.empty())
        out += fmt::format("; {} without a row: {}", core::grouped(without.size()),
                           fmt::join(without, ", "));
    return out + '\n';
}

table_summary write_table(const std::filesystem::path& table,
                          std::span<const std::filesystem::path> folders,
                          const table_options& options, const execution& run, bool overwrite) {
    table_summary out{.recordings = folders.size()};
    tabled_results all{.members = read_members(folders)};
    all.table = table_named(options.of, all.members[0].kind);
    warn_of_options(all.members, out.warnings);
    std::vector<std::string> columns = columns_of(all, options);
    io::atomic_file file(table, overwrite);
    row_writer writer(file, all, std::move(columns), options);
    for (std::size_t i = 0; i < all.members.size(); ++i) {
        if (run.on_progress) run.on_progress({"reading results", i, all.members.size()});
        const std::uint64_t rows = writer.write(all.members[i], run.stop);
        if (rows == 0) out.without.push_back(all.members[i].name);
        out.rows += rows;
    }
    file.commit();
    return out;
}

}  // namespace spikeweave
