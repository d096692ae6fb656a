#include "report/episodes/page_data.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "report/page_spikes.hpp"

namespace spikeweave::report {
namespace {

// A browser lists more rows slowly, and nobody reads them.
constexpr std::size_t most_listed = 10'000;
constexpr std::string_view arrow = "→";

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
    std::vector<std::string_view> parts;
    for (std::size_t at; (at = text.find(by)) != std::string_view::npos;
         text.remove_prefix(at + by.size()))
        parts.push_back(text.substr(0, at));
    parts.push_back(text);
    return parts;
}

// The rows of one of our tables, whose fields are not quoted.
class table_file {
public:
    explicit table_file(std::filesystem::path path) : path_(std::move(path)), in_(path_) {
        if (!std::getline(in_, header_)) throw io::file_error(path_, "cannot be read");
        names_ = split(header_, "\t");
    }

    bool next() {
        if (!std::getline(in_, line_)) return false;
        ++number_;
        cells_ = split(line_, "\t");
        if (cells_.size() != names_.size()) fail("it has not as many fields as the first line");
        return true;
    }

    // Only counts.
    std::size_t rest() {
        std::size_t lines = 0;
        while (std::getline(in_, line_)) ++lines;
        return lines;
    }

    const std::vector<std::string_view>& names() const { return names_; }

    std::string_view operator[](std::string_view name) const {
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_[i] == name) return cells_[i];
        fail(fmt::format("there is no column {}", name));
    }

    [[noreturn]] void fail(std::string_view text) const {
        throw io::file_error(path_, fmt::format("line {}", number_), text);
    }

    double number(std::string_view cell) const {
        double value = 0;
        const char* const end = cell.data() + cell.size();
        const auto [stopped, error] = std::from_chars(cell.data(), end, value);
        if (error != std::errc{} || stopped != end)
            fail(fmt::format("{} is not a number", io::shown(cell)));
        return value;
    }

private:
    std::filesystem::path path_;
    std::ifstream in_;
    std::string header_;
    std::string line_;
    std::size_t number_ = 1;
    std::vector<std::string_view> names_;
    std::vector<std::string_view> cells_;
};

// Flags stay flags, counts whole numbers.
json value_of(const table_file& rows, std::string_view name) {
    const std::string_view cell = rows[name];
    if (name == "significant" || name == "maximal") return cell == "yes";
    const double value = rows.number(cell);
    if (name == "count") return static_cast<std::uint64_t>(value);
    return value;
}

// Reads "(4,6] (4,6] ms"; an episode of one unit has "-".
json intervals_of(const table_file& rows, std::string_view cell) {
    json intervals = json::array();
    for (const std::string_view part : split(cell, " ")) {
        const std::size_t comma = part.find(',');
        if (part.size() < 2 || comma == std::string_view::npos) continue;
        intervals.push_back({rows.number(part.substr(1, comma - 1)),
                             rows.number(part.substr(comma + 1, part.size() - comma - 2))});
    }
    return intervals;
}

class unit_numbers {
public:
    explicit unit_numbers(const spike_sequence& spikes) {
        for (std::uint32_t i = 0; i < spikes.unit_count(); ++i)
            ids_.emplace(spikes.unit_names()[i], i);
    }

    std::uint32_t unit(const table_file& rows, std::string_view name) const {
        const auto found = ids_.find(std::string(name));
        if (found == ids_.end())
            rows.fail(fmt::format("the spikes have no unit {}", io::shown(name)));
        return found->second;
    }

    // Names are joined by arrows, which may also be part of a name.
    std::vector<std::uint32_t> units(const table_file& rows, std::string_view cell,
                                     std::size_t size) const {
        std::vector<std::uint32_t> out;
        if (!take(cell, size, out))
            rows.fail(fmt::format("the spikes have no units {}", io::shown(cell)));
        return out;
    }

private:
    bool take(std::string_view rest, std::size_t size, std::vector<std::uint32_t>& out) const {
        if (size == 0) return false;
        for (std::size_t end = 0; end != std::string_view::npos; end += arrow.size()) {
            end = rest.find(arrow, end);
            const auto found = ids_.find(std::string(rest.substr(0, end)));
            const bool is_last = end == std::string_view::npos;
            if (found != ids_.end() && is_last == (size == 1)) {
                out.push_back(found->second);
                if (is_last || take(rest.substr(end + arrow.size()), size - 1, out)) return true;
                out.pop_back();
            }
            if (is_last) break;
        }
        return false;
    }

    std::unordered_map<std::string, std::uint32_t> ids_;
};

json episode_columns(const std::filesystem::path& folder, const unit_numbers& known,
                     const execution& run) {
    table_file rows(folder / "episodes.tsv");
    json columns{{"total", 0}, {"units", json::array()}, {"delays_ms", json::array()}};
    std::vector<std::string_view> values;
    for (const std::string_view name : rows.names())
        if (name != "episode" && name != "size" && name != "units" && name != "delays") {
            values.push_back(name);
            columns[std::string(name)] = json::array();
        }
    std::size_t listed = 0;
    for (; listed < most_listed && rows.next(); ++listed) {
        core::throw_if_stopped(run.stop);
        columns["units"].push_back(
            known.units(rows, rows["units"], static_cast<std::size_t>(rows.number(rows["size"]))));
        columns["delays_ms"].push_back(intervals_of(rows, rows["delays"]));
        for (const std::string_view name : values)
            columns[std::string(name)].push_back(value_of(rows, name));
    }
    columns["total"] = listed + (listed == most_listed ? rows.rest() : 0);
    return columns;
}

json edge_rows(const std::filesystem::path& folder, const unit_numbers& known) {
    table_file rows(folder / "circuit.tsv");
    json edges = json::array();
    while (rows.next()) {
        json edge{{"from", known.unit(rows, rows["from"])}, {"to", known.unit(rows, rows["to"])}};
        edge["delay_ms"] = intervals_of(rows, rows["delay"]).at(0);
        edge["best_delay_ms"] = intervals_of(rows, rows["best_delay"]).at(0);
        for (const char* const name : {"count", "expected", "p", "q", "strength"})
            edge[name] = value_of(rows, name);
        edge["kind"] = rows["kind"];
        if (rows["kind"] != "direct") edge["via"] = known.unit(rows, rows["via"]);
        edges.push_back(std::move(edge));
    }
    return edges;
}

}  // namespace

json read_episode_run(const std::filesystem::path& folder) {
    std::ifstream in(folder / "run.json");
    json run = json::parse(in, nullptr, false);
    std::error_code unknown;
    if (!in || run.is_discarded() || !run.is_object() ||
        !std::filesystem::exists(folder / "episodes.tsv", unknown))
        throw io::file_error(folder,
                             "this is no result of spikeweave episodes, and others have no page");
    return run;
}

std::string episode_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                              const execution& run) {
    const unit_numbers known(spikes);
    const json document{{"format", "spikeweave page"},
                        {"version", 1},
                        {"kind", "episodes"},
                        {"run", read_episode_run(folder)},
                        {"units", spikes.unit_names()},
                        {"spikes", page_spikes(spikes)},
                        {"episodes", episode_columns(folder, known, run)},
                        {"edges", edge_rows(folder, known)}};
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace spikeweave::report
