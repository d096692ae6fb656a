#include "report/episodes/page_data.hpp"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/split.hpp"
#include "core/stop.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"
#include "report/unit_places.hpp"

namespace spikeweave::report {
namespace {

// Flags stay flags, counts whole numbers.
json value_of(const page_table& rows, std::string_view name) {
    const std::string_view cell = rows[name];
    if (name == "significant" || name == "maximal") return cell == "yes";
    const double value = rows.number(cell);
    if (name == "count") return static_cast<std::uint64_t>(value);
    return value;
}

json episode_columns(const std::filesystem::path& folder, const unit_numbers& known,
                     const execution& run) {
    page_table rows(folder / "episodes.tsv");
    json columns{{"total", 0}, {"units", json::array()}, {"delays_ms", json::array()}};
    std::vector<std::string_view> values;
    for (const std::string_view name : rows.names())
        if (name != "episode" && name != "size" && name != "units" && name != "delays") {
            values.push_back(name);
            columns[std::string(name)] = json::array();
        }
    std::size_t listed = 0;
    for (; listed < most_rows_of_a_page && rows.next(); ++listed) {
        core::throw_if_stopped(run.stop);
        columns["units"].push_back(known.units(
            rows, rows["units"], "→", static_cast<std::size_t>(rows.number(rows["size"]))));
        columns["delays_ms"].push_back(intervals_of(rows, rows["delays"]));
        for (const std::string_view name : values)
            columns[std::string(name)].push_back(value_of(rows, name));
    }
    columns["total"] = listed + (listed == most_rows_of_a_page ? rows.rest() : 0);
    return columns;
}

json edge_rows(const std::filesystem::path& folder, const unit_numbers& known) {
    page_table rows(folder / "circuit.tsv");
    json edges = json::array();
    while (rows.next()) {
        json edge{{"from", known.unit(rows, rows["from"])}, {"to", known.unit(rows, rows["to"])}};
        edge["sign"] = rows["sign"];
        edge["delay_ms"] = intervals_of(rows, rows["delay"]).at(0);
        edge["best_delay_ms"] = intervals_of(rows, rows["best_delay"]).at(0);
        for (const char* const name : {"count", "expected", "p", "q", "strength"})
            edge[name] = value_of(rows, name);
        edge["kind"] = rows["kind"];
        for (const char* const name : {"gain", "transmission"}) {
            const std::string figure(name);
            edge[name] = {value_of(rows, figure), value_of(rows, figure + "_low"),
                          value_of(rows, figure + "_high")};
        }
        if (rows["via"] != "-") edge["via"] = known.unit(rows, rows["via"]);
        if (rows["mean_delay_ms"] != "-")
            edge["mean_delay_ms"] = {value_of(rows, "mean_delay_ms"),
                                     value_of(rows, "mean_delay_low_ms"),
                                     value_of(rows, "mean_delay_high_ms")};
        for (const char* const name : {"asymmetry", "synchronous", "synchronous_expected"})
            edge[name] = value_of(rows, name);
        edge["cut"] = rows["cut"];
        edges.push_back(std::move(edge));
    }
    return edges;
}

}  // namespace

json intervals_of(const page_table& rows, std::string_view cell) {
    json intervals = json::array();
    for (const std::string_view part : core::split(cell, " ")) {
        const std::size_t comma = part.find(',');
        if (part.size() < 2 || comma == std::string_view::npos) continue;
        intervals.push_back({rows.number(part.substr(1, comma - 1)),
                             rows.number(part.substr(comma + 1, part.size() - comma - 2))});
    }
    return intervals;
}

std::string episode_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                              const std::filesystem::path& source, const execution& run) {
    const unit_numbers known(spikes.unit_names());
    json document{{"format", "spikeweave page"},
                  {"version", 1},
                  {"kind", "episodes"},
                  {"run", read_run(folder, "episodes.tsv")},
                  {"units", spikes.unit_names()},
                  {"places", unit_places(source, spikes.unit_names())},
                  {"spikes", page_spikes(spikes)},
                  {"episodes", episode_columns(folder, known, run)},
                  {"edges", edge_rows(folder, known)}};
    return page_text(document);
}

}  // namespace spikeweave::report
