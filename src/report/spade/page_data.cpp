#include "report/spade/page_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"

namespace spikeweave::report {
namespace {

// Joined epochs have a time axis of their own. A page has the times of the recording.
spike_sequence in_recorded_time(const spike_sequence& spikes, const pattern_axes& axes) {
    if (axes.segments.empty()) return spikes;
    const auto& segments = axes.segments;
    const auto original = [&](duration time) {
        const auto after =
            std::upper_bound(segments.begin() + 1, segments.end(), time,
                             [](duration t, const auto& segment) { return t < segment.begin; });
        return (after - 1)->original + (time - (after - 1)->begin);
    };
    std::vector<std::int64_t> times;
    times.reserve(spikes.size());
    for (const std::int64_t time : spikes.times_us())
        times.push_back(original(duration{time}).count());
    return {std::move(times),
            {spikes.units().begin(), spikes.units().end()},
            spikes.unit_names(),
            {segments.front().original, original(spikes.span().end)}};
}

json windows_of(const pattern_axes& axes, const json& run) {
    json segments = json::array();
    for (const pattern_axes::segment& one : axes.segments)
        segments.push_back({one.begin.count(), one.original.count()});
    const json& windows = run.at("windows");
    return {{"bin_us", std::llround(1000 * windows.at("bin_ms").get<double>())},
            {"length", windows.at("window_bins")},
            {"origin_us", axes.origin.count()},
            {"bins", windows.at("bins")},
            {"segments_us", std::move(segments)}};
}

json pattern_columns_of(const std::filesystem::path& folder, const unit_numbers& known,
                        const json& total, const execution& run) {
    page_table rows(folder / "patterns.tsv");
    json columns{{"total", total}, {"units", json::array()}, {"lags_ms", json::array()}};
    std::vector<std::string_view> values;
    for (const std::string_view name : rows.names())
        if (name != "size" && name != "units" && name != "lags_ms" && name != "times_s" &&
            name != "windows") {
            values.push_back(name);
            columns[std::string(name)] = json::array();
        }
    for (std::size_t listed = 0; listed < most_rows_of_a_page && rows.next(); ++listed) {
        core::throw_if_stopped(run.stop);
        columns["units"].push_back(known.units(
            rows, rows["units"], ",", static_cast<std::size_t>(rows.number(rows["size"]))));
        columns["lags_ms"].push_back(numbers_in(rows, rows["lags_ms"], ","));
        for (const std::string_view name : values)
            columns[std::string(name)].push_back(cell_value(rows[name]));
    }
    return columns;
}

// The significant signatures first, because there may be more than a page lists.
json signature_columns(const std::filesystem::path& path) {
    page_table rows(path);
    std::array<std::vector<std::vector<json>>, 2> kept;
    std::size_t total = 0;
    while (rows.next()) {
        ++total;
        auto& list = kept[rows["significant"] == "yes" ? 0 : 1];
        if (list.size() == most_rows_of_a_page) continue;
        std::vector<json>& cells = list.emplace_back(std::vector<json>{total});
        for (const std::string_view name : rows.names()) cells.push_back(cell_value(rows[name]));
    }
    std::vector<std::string> names{"signature"};
    names.insert(names.end(), rows.names().begin(), rows.names().end());
    json columns{{"total", total}};
    for (std::size_t i = 0; i < names.size(); ++i) {
        json values = json::array();
        for (const auto& list : kept)
            for (const std::vector<json>& cells : list)
                if (values.size() < most_rows_of_a_page) values.push_back(cells[i]);
        columns[names[i]] = std::move(values);
    }
    return columns;
}

struct spectrum_row {
    std::uint32_t size = 0;
    std::uint32_t count = 0;
    double p = 0;
};

std::vector<spectrum_row> read_spectrum(const std::filesystem::path& path) {
    page_table rows(path);
    std::vector<spectrum_row> out;
    while (rows.next())
        out.push_back({static_cast<std::uint32_t>(rows.number(rows["size"])),
                       static_cast<std::uint32_t>(rows.number(rows["count"])),
                       rows.names().back() == "p" ? rows.number(rows["p"]) : 0});
    return out;
}

// The spectrum as a map has it: for each size the largest p of some counts, and of all durations.
// What was found decides together with it which counts there are.
json spectrum_fields(const std::filesystem::path& folder) {
    constexpr std::uint32_t most_fields_of_a_size = 380;
    const std::vector<spectrum_row> spectrum = read_spectrum(folder / "spectrum.tsv");
    const std::vector<spectrum_row> found = read_spectrum(folder / "signatures.tsv");
    std::uint32_t low = ~0U;
    std::uint32_t high = 0;
    for (const auto* rows : {&spectrum, &found})
        for (const spectrum_row& row : *rows) {
            low = std::min(low, row.count);
            high = std::max(high, row.count);
        }
    const std::uint32_t width = low > high ? 1 : (high - low) / most_fields_of_a_size + 1;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> fields;
    for (const spectrum_row& row : spectrum) {
        double& p = fields[{row.size, low + (row.count - low) / width * width}];
        p = std::max(p, row.p);
    }
    json columns{{"low", low},
                 {"high", high},
                 {"counts_of_a_field", width},
                 {"size", json::array()},
                 {"count", json::array()},
                 {"p", json::array()}};
    for (const auto& [at, p] : fields) {
        columns["size"].push_back(at.first);
        columns["count"].push_back(at.second);
        columns["p"].push_back(p);
    }
    return columns;
}

json whole_table(const std::filesystem::path& path) {
    page_table rows(path);
    return table_columns(rows);
}

}  // namespace

std::string pattern_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                              const pattern_axes& axes, const execution& run) {
    const unit_numbers known(axes.unit_names);
    const json record = read_run(folder, "patterns.tsv");
    json document{
        {"format", "spikeweave page"},
        {"version", 1},
        {"kind", "spade"},
        {"run", record},
        {"units", axes.unit_names},
        {"spikes", page_spikes(in_recorded_time(spikes, axes))},
        {"windows", windows_of(axes, record)},
        {"patterns", pattern_columns_of(folder, known, record.at("search").at("patterns"), run)},
        {"signatures", signature_columns(folder / "signatures.tsv")},
        {"spectrum", nullptr},
        {"funnel", whole_table(folder / "funnel.tsv")}};
    std::error_code unknown;
    if (std::filesystem::exists(folder / "spectrum.tsv", unknown))
        document["spectrum"] = spectrum_fields(folder);
    return page_text(document);
}

}  // namespace spikeweave::report
