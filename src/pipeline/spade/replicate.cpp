#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/text.hpp"
#include "pipeline/divided_time.hpp"
#include "pipeline/same_units.hpp"
#include "pipeline/spade/search_and_test.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/spade/support.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave {
namespace {

replication_spikes prepared(spike_sequence spikes, const spade_options& options,
                            const spade_options& asked, bool has_recorded_span, bool elsewhere) {
    binned_recording recording = bin_recording(std::move(spikes), options, has_recorded_span);
    surrogate_maker maker(recording.spikes,
                          pipeline::surrogates_of(options, recording.spikes, recording.epochs),
                          recording.bins);
    return {std::move(recording), std::move(maker), options.surrogates.surrogates, elsewhere,
            asked};
}

// The parts of time, some of which are held out.
std::vector<time_span> parts_of(const spike_sequence& spikes, const spade_options& options,
                                bool has_recorded_span, std::vector<std::string>& warnings) {
    if (!options.epochs.empty()) return options.epochs;
    time_span span = spikes.span();
    // Trials are counted from the beginning of the recording, as in `bin_recording`.
    if (options.trial_length && !has_recorded_span) span.begin = std::min(span.begin, duration{0});
    if (options.t_start) span.begin = *options.t_start;
    if (options.t_stop) span.end = *options.t_stop;
    if (!options.trial_length) return pipeline::blocks_of(span, options.hold_out_block);
    std::vector<time_span> trials =
        regular_trials(span, *options.trial_length, options.trial_separation, options.compat);
    if (!trials.empty()) trials.back().end = std::min(trials.back().end, span.end + duration{1});
    std::string note =
        note_of_cut_trial(span, *options.trial_length, options.trial_separation, options.compat);
    if (!note.empty()) warnings.push_back(std::move(note));
    return trials;
}

// A table with the items that the patterns have in another recording, and which ones these are.
struct mapped_patterns {
    pattern_table table{};
    std::vector<std::size_t> numbers{};
};

mapped_patterns in_other(const pattern_table& patterns, const pipeline::same_units& same) {
    mapped_patterns out{.table = {.window_bins = patterns.window_bins}};
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        std::vector<pattern_item> items;
        for (const pattern_item item : patterns.pattern(i))
            if (const auto unit = same.in_other(patterns.unit(item)))
                items.push_back(static_cast<pattern_item>(to_index(*unit)) * patterns.window_bins +
                                patterns.lag(item));
        if (items.size() < patterns.pattern(i).size()) continue;
        out.table.append(items, patterns.counts[i]);
        out.numbers.push_back(i);
    }
    return out;
}

// The time during which the binned spikes were observed, without the gaps between epochs.
duration observed_time(const std::vector<time_span>& epochs, duration length) {
    if (epochs.empty()) return length;
    duration sum{0};
    for (const time_span& epoch : epochs) sum += epoch.length();
    return sum;
}

// The search had the epochs that were not held out in place of the time that was asked for.
void restore_time(spade_options& searched, const spade_options& asked) {
    searched.t_start = asked.t_start;
    searched.t_stop = asked.t_stop;
    searched.epochs = asked.epochs;
    if (asked.epochs.empty()) searched.separation.reset();
    searched.trial_length = asked.trial_length;
    searched.trial_separation = asked.trial_separation;
    searched.hold_out = asked.hold_out;
}

void check_confirmation(const spike_sequence& spikes, const spike_sequence& other,
                        const spade_options& options) {
    if (options.hold_out > 0)
        throw invalid_argument("hold_out",
                               "either a part is held out, or another recording confirms");
    if (!options.is_tested())
        throw invalid_argument(
            "another recording confirms only patterns that are tested: it needs "
            "`surrogates`");
    pipeline::check_other_recording(spikes, other);
    pipeline::match_units(spikes.unit_names(), other.unit_names());
}

// A part of a recording has fewer occurrences than all of it, and the lowest threshold is the same.
// The advice is for three spikes: where they occur by chance more often than the lowest threshold,
// a lower one would find a multitude of patterns.
void warn_of_lowest_threshold(spade_result& found, const spade_options& asked) {
    const std::uint32_t lowest = min_occ_options{}.least_occ;
    const bool is_estimated =
        asked.rules.empty() && std::holds_alternative<auto_min_occ>(asked.min_occ);
    const auto of_three = std::ranges::find_if(found.mining.rules, [](const pattern_rule& rule) {
        return rule.min_spikes <= 3 && (rule.max_spikes == 0 || rule.max_spikes >= 3);
    });
    if (found.table.size() > 0 || !is_estimated || of_three == found.mining.rules.end() ||
        of_three->min_occ != lowest)
        return;
    found.warnings.push_back(fmt::format(
        "No pattern was found in the searched time, so there is none to test in the held-out time. "
        "With `min_occ=auto`, a pattern needs at least {} occurrences, however short "
        "that time is. Lower it (`min_occ=6` with `min_spikes=3`), or hold out less (`hold_out`).",
        lowest));
}

}  // namespace

divided_recording divide_recording(const spike_sequence& spikes, const spade_options& options,
                                   bool has_recorded_span) {
    check_spade(options);
    std::vector<std::string> warnings;
    pipeline::divided_time time = pipeline::divide_time(
        parts_of(spikes, options, has_recorded_span, warnings), options.hold_out);
    spade_options search = options;
    search.hold_out = 0;
    search.method = options.method.value_or(options.usual_method());  // blocks are no trials
    search.t_start.reset();
    search.t_stop.reset();
    search.trial_length.reset();
    search.trial_separation = duration{0};
    spade_options test = search;
    search.epochs = std::move(time.searched);
    test.epochs = std::move(time.held_out);
    divided_recording out{std::move(search),
                          prepared(spikes, test, options, has_recorded_span, false)};
    out.held_out.warnings = std::move(warnings);
    return out;
}

replication_spikes confirming_recording(const spike_sequence& spikes, const spike_sequence& other,
                                        const spade_options& options, bool has_recorded_span) {
    check_spade(options);
    check_confirmation(spikes, other, options);
    spade_options test = options;
    test.t_start.reset();
    test.t_stop.reset();
    test.epochs.assign(other.epochs().begin(), other.epochs().end());
    if (test.epochs.empty()) test.separation.reset();
    // Epochs of the search alone are no trials of the recording that confirms.
    test.method = options.method.value_or(test.usual_method());
    return prepared(other, test, options, has_recorded_span, true);
}

void replicate(spade_result& found, const replication_spikes& in, const execution& run) {
    if (run.ranks && run.ranks->rank() > 0) return;
    const pipeline::same_units same =
        pipeline::match_units(found.axes.unit_names, in.recording.axes.unit_names);
    const mapped_patterns tested = in_other(found.table, same);
    execution alone = run;
    alone.ranks = nullptr;
    alone.threads = found.options.run.threads;
    const std::vector<pattern_support> supports = test_support(
        in.recording.binned, tested.table,
        [&](std::uint32_t which) { return in.maker.make(which); }, in.surrogates, alone);
    std::vector<double> p;
    p.reserve(supports.size());
    for (const pattern_support& one : supports) p.push_back(one.p);
    const correction_result corrected =
        correct_tests(p, p.size(), found.options.correction, found.options.alpha);

    spade_replication out{
        .searched = observed_time(found.options.epochs, found.counts.length),
        .observed = observed_time(in.recording.epochs, in.recording.counts.length),
        .tested = p.size(),
        .missing_units = same.missing,
        .confirmed_elsewhere = in.confirmed_elsewhere};
    if (!in.confirmed_elsewhere) {
        warn_of_lowest_threshold(found, in.asked);
        out.searched_epochs = found.options.epochs;
        restore_time(found.options, in.asked);
    }
    out.tests.resize(found.table.size());
    for (std::size_t k = 0; k < supports.size(); ++k) {
        out.tests[tested.numbers[k]] = {supports[k].count, supports[k].expected, p[k],
                                        corrected.q[k]};
        out.replicated += corrected.rejected[k] ? 1 : 0;
    }
    found.warnings.insert(found.warnings.end(), in.warnings.begin(), in.warnings.end());
    if (in.confirmed_elsewhere)
        for (const std::string& warning : in.recording.warnings)
            found.warnings.push_back("In the recording that confirms: " + warning);
    if (!same.missing.empty())
        found.warnings.push_back(
            fmt::format("{}. Significant patterns with such a unit, which are not tested: {}.",
                        same.missing_text(), core::grouped(out.tests.size() - out.tested)));
    found.replication = std::move(out);
}

}  // namespace spikeweave
