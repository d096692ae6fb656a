#include "report/replication_json.hpp"
#include "report/run_json.hpp"
#include "report/spade/view.hpp"

namespace spikeweave::report {
namespace {

json rules_of(const pattern_mining_options& mining) {
    json rules = json::array();
    for (const pattern_rule& rule : mining.rules)
        rules.push_back({{"min_occ", rule.min_occ},
                         {"min_spikes", rule.min_spikes},
                         {"max_spikes", rule.max_spikes},
                         {"min_neu", rule.min_neu}});
    return rules;
}

// How many of the patterns are there in other spikes.
json pattern_replication_of(const pattern_report& report) {
    const spade_replication& in = *report.replication;
    const replication_record record{.searched = in.searched,
                                    .tested_in = in.observed,
                                    .tested = in.tested,
                                    .replicated = in.replicated};
    if (in.confirmed_elsewhere)
        return replication_json(record,
                                other_recording{"recording", file_json(report.replication_input),
                                                in.missing_units, in.tests.size() - in.tested});
    json out = replication_json(record, {});
    out["searched_epochs_s"] = spans_json(in.searched_epochs);
    return out;
}

}  // namespace

json run_of(const pattern_view& p) {
    const pattern_report& report = p.report;
    json out = run_json(report.run, {{"spikes", report.input.spikes},
                                     {"units", report.axes.unit_names.size()},
                                     {"length_s", to_seconds(report.input.length)},
                                     {"spikes_in_a_taken_bin", report.input.clipped},
                                     {"spikes_in_no_bin", report.input.outside}});
    out["windows"] = {{"bin_ms", ms(report.axes.bin)},
                      {"window_bins", report.axes.window_bins},
                      {"origin_s", to_seconds(report.axes.origin)},
                      {"bins", report.input.bins},
                      {"windows", report.input.windows},
                      {"items", report.input.items}};
    out["search"] = {{"strategy", to_string(report.ran_on)},
                     {"rules", rules_of(report.mining)},
                     {"max_occ", report.mining.max_occ},
                     {"drop_window_subsets", report.mining.drop_window_subsets},
                     {"patterns", report.patterns}};
    out["funnel"] = list_of(report.funnel);
    if (p.tested())
        out["significance"] = {{"spectrum", to_string(report.spectrum)},
                               {"alpha", report.testing.alpha},
                               {"correction", to_string(report.testing.correction)},
                               {"surrogates", report.assessment->spectrum.surrogates},
                               {"surrogate_method", to_string(report.surrogate.method)},
                               {"dither_ms", ms(report.surrogate.dither)},
                               {"seed", report.surrogate.seed}};
    if (report.replication)
        out[report.replication->confirmed_elsewhere ? "confirm" : "hold_out"] =
            pattern_replication_of(report);
    return out;
}

}  // namespace spikeweave::report

namespace spikeweave {

std::string document_of(const pattern_report& report, const execution& run) {
    return report::whole_text(report::document_of(report::pattern_view(report)), run);
}

std::string to_json(const pattern_report& report) {
    const report::pattern_view p(report);
    report::json signatures = report::rows_of(report::signatures_table(p));
    return report::text_of({{"run", report::run_of(p)},
                            {"patterns", report::patterns_json(p)},
                            {"signatures", std::move(signatures)}});
}

}  // namespace spikeweave
