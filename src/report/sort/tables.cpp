#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "report/sort/view.hpp"

namespace spikeweave::report {
namespace {

// The other cluster is 0 if there is none.
row decision_row(const cluster_decision& one) {
    row out = described_row(one);
    for (column& each : out)
        if (each.name == "other" && one.other == 0) each.value = std::optional<std::uint64_t>{};
    return out;
}

row motion_row(double time_s, double depth_um, column_value displacement_um) {
    return {{"time_s", time_s, "the middle of a time bin"},
            {"depth_um", depth_um, "the middle of a window of depths"},
            {"displacement_um", std::move(displacement_um),
             "how far the tissue is above its median over time"}};
}

// Scores have more digits than other numbers, to show how they fall.
row iteration_row(std::uint64_t number, const masked_gmm_iteration& one) {
    const auto score = [](double value) { return fixed_number{value, 6}; };
    return {
        {"iteration", number, "the number of the iteration, from 1"},
        {"clusters", std::uint64_t{one.clusters}, "clusters at its beginning, without noise"},
        {"changed", one.changed, "spikes that moved"},
        {"deleted", std::uint64_t{one.deleted}, "clusters deleted"},
        {"splits", std::uint64_t{one.splits}, "splits accepted after it"},
        {"log_likelihood", score(-one.negated_log_likelihood), "of the features scaled to [0, 1]"},
        {"penalty", score(one.penalty), "for the number of parameters"},
        {"score", score(one.score()), "`penalty` − `log_likelihood`; lower is better"}};
}

// @param what  of the report
row unit_row(const sorting_report& report, std::size_t unit, const sorted_unit& what) {
    row out{
        {"unit", std::uint64_t{unit + 1},
         "the number of the unit, from 1; the other commands call it the same"},
        {"clu_label", std::uint64_t{unit} + report.first_label, "its number in `sorting.clu.1`"}};
    std::optional<std::uint64_t> peak;
    if (unit < report.peak_channels.size()) peak = report.peak_channels[unit];
    for (column& each : described_row(what)) {
        if (each.name == "label")
            out.push_back({"peak_channel", peak, "the channel on which it is largest, from 0"});
        out.push_back(std::move(each));
    }
    return out;
}

}  // namespace

result_table units_table(const sorting_report& report) {
    std::vector<std::size_t> with_spikes;
    for (std::size_t u = 0; u < report.units.size(); ++u)
        if (report.units[u].spikes > 0) with_spikes.push_back(u);
    return {.name = "units",
            .size = with_spikes.size(),
            .at =
                [&report, with_spikes](std::size_t i) {
                    return unit_row(report, with_spikes[i], report.units[with_spikes[i]]);
                },
            .names = unit_row(report, 0, {}),
            .none = ""};
}

result_table iterations_table(const sorting_report& report) {
    const std::vector<masked_gmm_iteration>& iterations = report.search.iterations;
    return {.name = "iterations",
            .size = iterations.size(),
            .at = [&iterations](std::size_t i) { return iteration_row(i + 1, iterations[i]); },
            .names = iteration_row(0, {})};
}

result_table merges_table(const sorting_report& report) {
    return {.name = "merges",
            .size = report.decisions.size(),
            .at = [&report](std::size_t i) { return decision_row(report.decisions[i]); },
            .names = decision_row({}),
            .none = ""};
}

result_table motion_table(const sorting_report& report, table_use use) {
    const probe_motion& motion = report.motion;
    const std::size_t windows = motion.depths_um.size();
    const auto rounded = [use](double um) -> column_value {
        if (use == table_use::file_only) return fixed_number{um, 2};
        return std::round(100 * um) / 100;
    };
    return {.name = "motion",
            .size = motion.times_s.size() * windows,
            .at =
                [&motion, windows, rounded](std::size_t i) {
                    return motion_row(motion.times_s[i / windows], motion.depths_um[i % windows],
                                      rounded(motion.displacement_um[i]));
                },
            .names = motion_row(0, 0, 0.0),
            .use = use};
}

}  // namespace spikeweave::report
