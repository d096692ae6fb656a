#include <algorithm>
#include <cmath>

#include "report/sort/view.hpp"

namespace spikeweave {
namespace {

report::json iterations_of(const sorting_report& report) {
    report::json list = report::json::array();
    for (const masked_gmm_iteration& one : report.search.iterations)
        list.push_back({{"clusters", one.clusters},
                        {"changed", one.changed},
                        {"deleted", one.deleted},
                        {"splits", one.splits},
                        {"log_likelihood", -one.negated_log_likelihood},
                        {"penalty", one.penalty},
                        {"score", one.score()}});
    return list;
}

}  // namespace

std::uint64_t report::noise_spikes(const sorting_report& report) {
    return static_cast<std::uint64_t>(
        std::count(report.sorted.labels.begin(), report.sorted.labels.end(), 0U));
}

std::size_t report::unit_number(const sorting_report& report) {
    return static_cast<std::size_t>(
        std::count_if(report.units.begin(), report.units.end(),
                      [](const sorted_unit& one) { return one.spikes > 0; }));
}

report::json report::sorting_run(const sorting_report& report) {
    json more = json::array();
    for (const input_record& one : report.more_input) more.push_back(file_json(one));
    json out = run_json(report.run, {{"more_files", more},
                                     {"spikes", report.sorted.labels.size()},
                                     {"features", report.features},
                                     {"masks_from", report.masks_from},
                                     {"has_samples", !report.sorted.samples.empty()},
                                     {"sample_rate_hz", report.sorted.sample_rate}});
    const bool is_scored = !report.search.iterations.empty();
    const double spikes = static_cast<double>(std::max<std::uint64_t>(report.clustered_spikes, 1));
    out["sorting"] = {{"strategy", to_string(report.search.ran_on)},
                      {"stopped", to_string(report.search.stopped)},
                      {"iterations", report.search.iterations.size()},
                      {"units", unit_number(report)},
                      {"noise_spikes", noise_spikes(report)},
                      {"score", is_scored ? json(report.search.score()) : json(nullptr)},
                      {"seed_score", is_scored ? json(2 * report.search.score() - std::log(spikes))
                                               : json(nullptr)}};
    for (const incremental_fit& one : report.fits)
        out["sorting"]["fits"].push_back({{"spikes", one.spikes},
                                          {"reason", to_string(one.reason)},
                                          {"cost_before", one.cost_before},
                                          {"running_cost", one.running_cost},
                                          {"cost", one.cost},
                                          {"iterations", one.iterations},
                                          {"units", one.units}});
    return out;
}

std::string document_of(const sorting_report& report, const execution& run) {
    return report::whole_text(report::document_of(report, report::details_of(report)), run);
}

std::string to_json(const sorting_report& report) {
    return report::text_of({{"run", report::sorting_run(report)},
                            {"units", report::rows_of(report::units_table(report))},
                            {"iterations", iterations_of(report)}});
}

}  // namespace spikeweave
