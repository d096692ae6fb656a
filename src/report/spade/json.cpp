#include "report/replication_json.hpp"
#include "report/run_json.hpp"
#include "report/spade/parts.hpp"

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

json pattern_of(const pattern_view& p, std::size_t i) {
    const pattern_report& report = p.report;
    json units = json::array();
    json lags = json::array();
    for (const pattern_item item : report.table.pattern(i)) {
        units.push_back(p.name(item));
        lags.push_back(ms(p.lag(item)));
    }
    json starts = json::array();
    for (const std::uint32_t start : report.table.occurrences_of(i)) {
        if (report.axes.timed)
            starts.push_back(to_seconds(report.axes.time_of(start)));
        else
            starts.push_back(start);
    }
    json one{{"pattern", p.number[i]},
             {"units", units},
             {"lags_ms", lags},
             {"count", report.table.counts[i]},
             {report.axes.timed ? "times_s" : "windows", starts}};
    if (p.tests[i] != nullptr) {
        one["p"] = p.tests[i]->p;
        one["q"] = p.tests[i]->q;
        one["significant"] = p.tests[i]->significant;
    }
    if (const pattern_replication* other = p.replicated(i))
        one["replication"] = {{"count", other->count},
                              {"expected", other->expected},
                              {"p", other->p},
                              {"q", other->q}};
    if (!report.stabilities.empty()) {
        one["stability_intensional"] = report.stabilities[i].intensional;
        one["stability_extensional"] = report.stabilities[i].extensional;
    }
    return one;
}

json signature_json(const pattern_view& p, const pattern_signature& what, std::uint64_t patterns) {
    json one{{"size", what.size}, {"count", what.count}};
    if (p.report.spectrum == spectrum_kind::size_count_duration)
        one["duration_ms"] = ms(p.report.axes.bin * what.duration);
    one["patterns"] = patterns;
    return one;
}

json signatures_of(const pattern_view& p) {
    json out = json::array();
    if (!p.tested()) {
        for (const signature_count& found : p.report.signatures)
            out.push_back(
                signature_json(p, {found.size, found.count, found.duration}, found.patterns));
        return out;
    }
    for (const signature_test& test : p.report.assessment->tests.signatures) {
        json one = signature_json(p, test.what, test.patterns);
        one.update({{"p", test.p},
                    {"tested", test.tested},
                    {"q", test.q},
                    {"significant", test.significant},
                    {"reason", to_string(test.reason)}});
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

std::string pattern_run_json(const pattern_view& p) {
    return text_of(run_of(p));
}

}  // namespace spikeweave::report

namespace spikeweave {

std::string to_json(const pattern_report& report) {
    const report::pattern_view p(report);
    report::json patterns = report::json::array();
    for (const std::size_t i : p.order) patterns.push_back(report::pattern_of(p, i));
    return report::text_of({{"run", report::run_of(p)},
                            {"patterns", patterns},
                            {"signatures", report::signatures_of(p)}});
}

}  // namespace spikeweave
