#include "report/page_tables.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <istream>
#include <optional>
#include <system_error>
#include <utility>

#include "core/split.hpp"
#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

template <class Number>
std::optional<Number> parsed(std::string_view cell) {
    Number value{};
    const char* const end = cell.data() + cell.size();
    const auto [stopped, error] = std::from_chars(cell.data(), end, value);
    if (error != std::errc{} || stopped != end) return {};
    return value;
}

}  // namespace

page_table::page_table(const std::filesystem::path& path)
    : page_table(path, std::make_unique<std::ifstream>(io::open_found(path))) {}

page_table::page_table(std::filesystem::path path, std::unique_ptr<std::istream> text)
    : path_(std::move(path)), in_(std::move(text)) {
    if (!std::getline(*in_, header_)) throw io::file_error(path_, "cannot be read");
    names_ = core::split(header_, "\t");
}

bool page_table::next() {
    if (!std::getline(*in_, line_)) return false;
    ++number_;
    cells_ = core::split(line_, "\t");
    check_printable();
    if (cells_.size() != names_.size()) fail("it has not as many fields as the first line");
    return true;
}

// Names in it are shown, and copied into other tables.
void page_table::check_printable() const {
    for (const std::string_view cell : cells_)
        if (!cell.empty() && !io::is_printable_utf8(cell))
            fail(fmt::format("found {}, expected printable text in UTF-8", io::shown(cell)));
}

std::size_t page_table::rest() {
    std::size_t lines = 0;
    while (std::getline(*in_, line_)) ++lines;
    return lines;
}

std::string_view page_table::operator[](std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (names_[i] == name) return cells_[i];
    fail(fmt::format("there is no column {}", name));
}

double page_table::number(std::string_view cell) const {
    const auto value = parsed<double>(cell);
    if (!value) fail(fmt::format("{} is not a number", io::shown(cell)));
    return *value;
}

void page_table::fail(std::string_view text) const {
    throw io::file_error(path_, fmt::format("line {}", number_), text);
}

json cell_value(std::string_view cell) {
    if (cell.empty() || cell == "-") return nullptr;
    if (cell == "yes" || cell == "no") return cell == "yes";
    if (const auto whole = parsed<std::int64_t>(cell)) return *whole;
    if (const auto number = parsed<double>(cell)) return *number;
    return std::string(cell);
}

json numbers_in(const page_table& rows, std::string_view cell, std::string_view joined_by) {
    json out = json::array();
    for (const std::string_view number : core::split(cell, joined_by))
        out.push_back(rows.number(number));
    return out;
}

json table_columns(page_table& rows) {
    json columns = json::object();
    for (const std::string_view name : rows.names()) columns[std::string(name)] = json::array();
    while (rows.next())
        for (const std::string_view name : rows.names())
            columns[std::string(name)].push_back(cell_value(rows[name]));
    return columns;
}

json first_rows(page_table& rows, std::span<const std::string_view> plain,
                std::initializer_list<const char*> own,
                const std::function<void(json& columns)>& add, const execution& run) {
    json columns{{"total", 0}};
    for (const std::string_view name : plain) columns[std::string(name)] = json::array();
    for (const char* const name : own) columns[name] = json::array();
    std::size_t listed = 0;
    for (; listed < most_rows_of_a_page && rows.next(); ++listed) {
        core::stop_at_times(listed, run.stop);
        for (const std::string_view name : plain)
            columns[std::string(name)].push_back(cell_value(rows[name]));
        if (add) add(columns);
    }
    columns["total"] = listed + (listed == most_rows_of_a_page ? rows.rest() : 0);
    return columns;
}

json first_rows(page_table& rows, const execution& run) {
    return first_rows(rows, rows.names(), {}, {}, run);
}

unit_numbers::unit_numbers(const std::vector<std::string>& names) {
    for (std::uint32_t i = 0; i < names.size(); ++i) ids_.emplace(names[i], i);
}

std::uint32_t unit_numbers::unit(const page_table& rows, std::string_view name) const {
    const auto found = ids_.find(std::string(name));
    if (found == ids_.end()) rows.fail(fmt::format("the spikes have no unit {}", io::shown(name)));
    return found->second;
}

std::vector<std::uint32_t> unit_numbers::units(const page_table& rows, std::string_view cell,
                                               std::string_view joined_by, std::size_t size) const {
    std::vector<std::uint32_t> out;
    if (!take(cell, joined_by, size, out))
        rows.fail(fmt::format("the spikes have no units {}", io::shown(cell)));
    return out;
}

bool unit_numbers::take(std::string_view rest, std::string_view joined_by, std::size_t size,
                        std::vector<std::uint32_t>& out) const {
    if (size == 0) return false;
    for (std::size_t end = 0; end != std::string_view::npos; end += joined_by.size()) {
        end = rest.find(joined_by, end);
        const auto found = ids_.find(std::string(rest.substr(0, end)));
        const bool is_last = end == std::string_view::npos;
        if (found != ids_.end() && is_last == (size == 1)) {
            out.push_back(found->second);
            if (is_last || take(rest.substr(end + joined_by.size()), joined_by, size - 1, out))
                return true;
            out.pop_back();
        }
        if (is_last) break;
    }
    return false;
}

json read_run(const std::filesystem::path& folder, std::string_view table) {
    std::ifstream in = io::open_found(folder / "run.json");
    json run = json::parse(in, nullptr, false);
    std::error_code unknown;
    if (!in || !run.is_object() || !std::filesystem::exists(folder / table, unknown))
        return nullptr;
    return run;
}

std::pair<std::string, json> kind_of(const std::filesystem::path& folder) {
    for (const auto& [table, kind] :
         {std::pair("episodes.tsv", "episodes"), std::pair("windows.tsv", "windows"),
          std::pair("patterns.tsv", "spade"), std::pair("sorting.npz", "sort"),
          std::pair("assemblies.tsv", "assemblies"), std::pair("replay.tsv", "replay"),
          std::pair("differences.tsv", "compare")})
        if (json run = read_run(folder, table); !run.is_null()) return {kind, std::move(run)};
    throw io::file_error(
        folder,
        "this is no result of spikeweave episodes, spade, sort, assemblies, replay or "
        "compare");
}

std::string page_text(const json& document) {
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace spikeweave::report
