#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "report/page_spikes.hpp"
#include "report/spade/view.hpp"

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

json windows_of(const pattern_report& report) {
    const pattern_axes& axes = report.axes;
    json segments = json::array();
    for (const pattern_axes::segment& one : axes.segments)
        segments.push_back({one.begin.count(), one.original.count()});
    return {{"bin_us", axes.bin.count()},
            {"length", axes.window_bins},
            {"origin_us", axes.origin.count()},
            {"bins", report.input.bins},
            {"segments_us", std::move(segments)}};
}

// The spectrum as a map has it: for each size the largest p of some counts, and of all durations.
// What was found decides together with it which counts there are.
json spectrum_fields(const std::vector<spectrum_entry>& spectrum,
                     const std::vector<signature_test>& found) {
    constexpr std::uint32_t most_fields_of_a_size = 380;
    std::uint32_t low = ~0U;
    std::uint32_t high = 0;
    const auto span = [&](const auto& all) {
        for (const auto& one : all) {
            low = std::min(low, one.what.count);
            high = std::max(high, one.what.count);
        }
    };
    span(spectrum);
    span(found);
    const std::uint32_t width = low > high ? 1 : (high - low) / most_fields_of_a_size + 1;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> fields;
    for (const spectrum_entry& one : spectrum) {
        double& p = fields[{one.what.size, low + (one.what.count - low) / width * width}];
        p = std::max(p, one.p);
    }
    json columns{{"low", low},
                 {"high", high},
                 {"counts_of_a_field", width},
                 {"total", fields.size()},
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

}  // namespace

document document_of(const pattern_view& p) {
    const pattern_report& report = p.report;
    document out{.kind = "spade",
                 .run = run_of(p),
                 .unit_names = report.axes.unit_names,
                 .values = {{"spikes", page_spikes(in_recorded_time(report.spikes, report.axes))},
                            {"windows", windows_of(report)},
                            {"spectrum", nullptr}},
                 .tables = {patterns_table(p), occurrences_table(p), signatures_table(p),
                            numbered_signatures_table(p), funnel_table(p)}};
    if (!p.tested()) return out;
    const pattern_test_result& tests = *report.assessment;
    out.values["spectrum"] = spectrum_fields(tests.spectrum.entries, tests.tests.signatures);
    for (const table_use use : {table_use::file_only, table_use::document_only})
        out.tables.push_back(spectrum_table(p, use));
    return out;
}

}  // namespace spikeweave::report
