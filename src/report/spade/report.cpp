#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/spade/lines.hpp"
#include "report/spade/view.hpp"
#include "spikeweave/report/spade.hpp"

namespace spikeweave {

pattern_report report_of(spike_sequence spikes, spade_result result, const execution& run) {
    spade_options& options = result.options;
    const surrogate_options& surrogates = options.surrogates;
    pattern_report report{.axes = std::move(result.axes),
                          .table = std::move(result.table),
                          .spectrum = options.spectrum,
                          .signatures = std::move(result.signatures),
                          .assessment = std::move(result.assessment),
                          .testing = options.testing(),
                          .surrogate = surrogates,
                          .stabilities = std::move(result.stabilities),
                          .funnel = std::move(result.funnel),
                          .replication = std::move(result.replication),
                          .mining = std::move(result.mining),
                          .ran_on = result.ran_on,
                          .input = result.counts,
                          .spikes = std::move(spikes)};
    report.patterns = report.table.size();
    report::record_result(report.run, result, describe(options), surrogates.seed, run,
                          options.run.threads, options.run.devices.value_or(std::vector<int>{}));
    if (options.is_tested())
        report.run.parameters.emplace_back("trials", std::uint64_t{surrogates.trials.size()});
    if (!result.time_origin_note.empty())
        report.run.parameters.emplace_back("time_origin_note", result.time_origin_note);
    return report;
}

pattern_report report_of(spike_sequence spikes, spade_stream_result result, const execution& run) {
    pattern_report report = report_of(std::move(spikes), std::move(result.found), run);
    report.patterns = result.patterns;
    report.numbers = std::move(result.numbers);
    return report;
}

namespace {

// Writes all files but `patterns.tsv`.
void write_others(const io::result_folder& out, const report::pattern_view& p,
                  const execution& run) {
    core::throw_if_stopped(run.stop);
    if (p.report.with_nwb) report::write_pattern_nwb(out.file("patterns.nwb"), p);
    report::write_result(out, report::document_of(p), p.report.with_page, run);
}

}  // namespace

void write_report(const std::filesystem::path& folder, const pattern_report& report, bool overwrite,
                  const execution& run) {
    const report::pattern_view p(report);
    io::result_folder out(folder, overwrite, report::files_of(result_kind::spade));
    io::atomic_file patterns(out.file("patterns.tsv"));
    report::write_patterns(
        p, [&](std::string_view piece) { patterns.write(piece); }, run);
    patterns.commit();
    write_others(out, p, run);
    out.commit(run.stop);
}

struct pattern_stream::state {
    io::result_folder folder;
    io::atomic_file file;
    report::pattern_lines lines;
    std::uint64_t patterns = 0;

    state(const std::filesystem::path& target, const pattern_axes& axes, bool with_occurrences,
          bool overwrite)
        : folder(target, overwrite, report::files_of(result_kind::spade)),
          file(folder.file("patterns.tsv")),
          lines(axes, {.occurrences = with_occurrences}) {
        const pattern_report none{.axes = axes, .table = {.window_bins = axes.window_bins}};
        file.write(report::patterns_heading(report::pattern_view(none), with_occurrences));
    }
    void flush() {
        file.write(lines.text());
        lines.clear();
    }
};

pattern_stream::pattern_stream(const std::filesystem::path& folder, const pattern_axes& axes,
                               bool with_occurrences, bool overwrite)
    : state_(std::make_unique<state>(folder, axes, with_occurrences, overwrite)) {}

pattern_stream::~pattern_stream() = default;

void pattern_stream::take(const pattern_table& block) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::size_t i = 0; i < block.size(); ++i) {
        state_->lines.append(++state_->patterns, block, i);
        if (state_->lines.text().size() >= piece) state_->flush();
    }
}

void pattern_stream::commit(const pattern_report& report, const execution& run) {
    const report::pattern_view p(report);
    state_->flush();
    state_->file.commit();
    write_others(state_->folder, p, run);
    state_->folder.commit(run.stop);
}

}  // namespace spikeweave

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
// Together with the result it decides which counts there are.
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
    json out{{"low", low}, {"high", high}, {"counts_of_a_field", width}, {"total", fields.size()}};
    out.update(columns_of({"size", "count", "p"}, fields, [](const auto& field) {
        return json::array({field.first.first, field.first.second, field.second});
    }));
    return out;
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

// The share of the patterns that other spikes confirm.
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
    json out = run_json(report.run, verdict_of(p),
                        {{"spikes", report.input.spikes},
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
