#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "pipeline/spade/search_and_test.hpp"
#include "spikeweave/assess/surrogate_numbers.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

std::vector<std::size_t> counts_of(const spike_sequence& spikes) {
    std::vector<std::size_t> counts(spikes.unit_count(), 0);
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    return counts;
}

// Trials and Elephant's bins are counted from the beginning of the recording. If the file does not
// state it, times are taken to be counted from it, unless some are below 0.
spike_sequence from_zero(const spade_options& options, spike_sequence spikes) {
    const bool asked = options.trial_length || follows_elephant(options.compat);
    const time_span recorded = spikes.span();
    if (!asked || recorded.begin <= duration{0}) return spikes;
    return within_span(spikes, {duration{0}, recorded.end});
}

// Joins the epochs, each of which is a trial.
void join_epochs(const spade_options& options, binned_recording& out) {
    const duration window = options.bin * options.window;
    const duration separation = options.epochs_apart();
    if (separation < window)
        out.warnings.push_back(fmt::format(
            "Epochs are {} apart and windows {} long: patterns may reach from one into the next.",
            format_duration(separation), format_duration(window)));
    concatenated_epochs joined = concatenate_epochs(out.spikes, options.epochs, separation);
    for (std::size_t e = 0; e < joined.spans.size(); ++e)
        out.axes.segments.push_back({joined.spans[e].begin, joined.sources[e].begin});
    out.epochs = std::move(joined.spans);
    if (joined.outside > 0)
        out.warnings.push_back(fmt::format("{} of {} spikes are in no epoch.",
                                           core::grouped(joined.outside),
                                           core::grouped(out.spikes.size())));
    out.spikes = std::move(joined.spikes);
}

// Leaves out what is earlier than `t_start` or later than `t_stop`.
spike_sequence part_asked_for(const spade_options& options, spike_sequence spikes) {
    if (!options.t_start && !options.t_stop) return spikes;
    const time_span recorded = spikes.span();
    const time_span part{options.t_start.value_or(recorded.begin),
                         options.t_stop.value_or(recorded.end)};
    if (part.begin >= part.end)
        throw invalid_argument(
            fmt::format("there is nothing between `t_start` {} and `t_stop` {}; the recording is "
                        "{} to {}",
                        format_duration(part.begin), format_duration(part.end),
                        format_duration(recorded.begin), format_duration(recorded.end)));
    return within_span(spikes, part);
}

// The first bin begins at `t_start`; where the recording ends does not move it.
binning_options bins_of(const spade_options& options, const spike_sequence& spikes) {
    binning_options bins{.bin = options.bin, .compat = options.compat};
    if (options.t_start) bins.span = spikes.span();
    return bins;
}

// The time at which the first bin begins: by default, the multiple of the bin width at or below the
// beginning of the recording.
std::string origin_note(const spade_options& options, bool stated, duration begin,
                        duration origin) {
    std::string why = options.t_start           ? "t_start"
                      : !options.epochs.empty() ? "the first epoch"
                      : stated                  ? "as the file says"
                      : begin == duration{0}    ? "the file does not say"
                                                : "the first spike: the file does not say";
    if (origin != begin && options.epochs.empty())
        why = fmt::format("the multiple of the bin below {}, {}", format_duration(begin), why);
    return fmt::format("{} ({})", format_duration(origin), why);
}

void warn_of_binning(const pattern_input& counts, std::vector<std::string>& warnings) {
    if (counts.clipped > 0)
        warnings.push_back(
            fmt::format("{} of {} spikes share a bin with another of their unit, and count once.",
                        core::grouped(counts.clipped), core::grouped(counts.spikes)));
    if (counts.outside > 0)
        warnings.push_back(fmt::format("{} of {} spikes are in no bin and are not mined.",
                                       core::grouped(counts.outside),
                                       core::grouped(counts.spikes)));
}

void note_windows(spade_input& out, const spade_options& options, std::vector<pattern_rule> rules) {
    out.axes.window_bins = options.window;
    out.axes.bin = options.bin;
    out.counts.windows = out.windows.size();
    out.counts.items = out.windows.item_count();
    out.mining = {.rules = std::move(rules),
                  .max_occ = options.max_occ,
                  .drop_window_subsets =
                      options.subset_filter && options.window > 1 && out.windows.from_bins(),
                  .with_occurrences = false,
                  .take_identical_windows = follows_elephant(options.compat),
                  .strategy = options.strategy};
}

// Trials are only used to shift spikes within them.
void note_cut_trial(binned_recording& out, const spade_options& options) {
    if (!options.trial_length || !options.is_tested() ||
        options.method.value_or(options.usual_method()) != surrogate_method::trial_shifting)
        return;
    std::string note = note_of_cut_trial(out.spikes.span(), *options.trial_length,
                                         options.trial_separation, options.compat);
    if (!note.empty()) out.warnings.push_back(std::move(note));
}

void settle_surrogates(spade_input& out, const spade_options& options,
                       std::vector<time_span> epochs) {
    if (!options.is_tested()) return;
    out.surrogates = pipeline::surrogates_of(options, out.spikes, std::move(epochs));
    out.maker.emplace(out.spikes, out.surrogates, out.bins);
}

void warn_beforehand(spade_input& out, const spade_options& options) {
    const std::uint32_t surrogates = options.surrogates.surrogates;
    if (surrogates > 0)
        if (auto warning = warn_of_few_surrogates(surrogates, pipeline::level_of(options)))
            out.warnings.push_back(std::move(*warning));
    const spade_options usual;
    if (surrogates == 0) {
        constexpr auto text = "Nothing is tested without `surrogates`: `{}` changes nothing.";
        if (options.alpha != usual.alpha) out.warnings.push_back(fmt::format(text, "alpha"));
        if (options.correction != usual.correction)
            out.warnings.push_back(fmt::format(text, "correction"));
    }
    if (!out.axes.timed && follows_elephant(options.compat) && !options.reduce)
        out.warnings.emplace_back(
            "Windows are given: `compat` changes nothing without spikes to bin or `reduce`.");
    if (out.windows.size() == 0) out.warnings.emplace_back("No spike is in a bin.");
}

}  // namespace

surrogate_options pipeline::surrogates_of(const spade_options& options,
                                          const spike_sequence& spikes,
                                          std::vector<time_span> epochs) {
    surrogate_options out = options.surrogates;
    out.method = options.method.value_or(options.usual_method());
    out.trials = options.trial_length ? regular_trials(spikes.span(), *options.trial_length,
                                                       options.trial_separation, options.compat)
                                      : std::move(epochs);
    return out;
}

duration pattern_axes::time_of(std::uint32_t start) const {
    const duration at = origin + bin * start;
    const auto after = std::upper_bound(segments.begin(), segments.end(), at,
                                        [](duration t, const segment& s) { return t < s.begin; });
    // A window may begin in the same bin as a segment; the left edge of that bin may be earlier.
    if (after == segments.begin())
        return segments.empty() ? at : segments.front().original + (at - segments.front().begin);
    const segment& of = *(after - 1);
    return of.original + (at - of.begin);
}

binned_recording bin_recording(spike_sequence spikes, const spade_options& options,
                               bool has_recorded_span) {
    check_spade(options);
    binned_recording out{.spikes = std::move(spikes)};
    core::check_given_time("A bin is", options.bin, out.warnings);
    if (options.is_tested())
        core::check_given_time("The dither is", options.surrogates.dither, out.warnings);
    if (!has_recorded_span) out.spikes = from_zero(options, std::move(out.spikes));
    if (!options.epochs.empty()) join_epochs(options, out);
    out.spikes = part_asked_for(options, std::move(out.spikes));
    note_cut_trial(out, options);
    out.bins = bins_of(options, out.spikes);
    binning_result binned = bin_spikes(out.spikes, out.bins);
    out.axes.unit_names = out.spikes.unit_names();
    out.axes.origin = binned.origin;
    out.time_origin_note =
        origin_note(options, has_recorded_span, out.spikes.span().begin, binned.origin);
    out.counts = {.spikes = out.spikes.size(),
                  .clipped = binned.clipped,
                  .outside = binned.outside,
                  .bins = binned.spikes.bin_count(),
                  .length = out.spikes.span().length()};
    warn_of_binning(out.counts, out.warnings);
    out.rules = rules_of(options, counts_of(out.spikes), out.counts.length);
    out.binned = std::move(binned.spikes);
    return out;
}

spade_input prepare_spade(binned_recording recording, const spade_options& options,
                          const execution& run) {
    spade_input out{
        // The exchange frees the binned spikes once the windows are made.
        .windows = spade_windows(std::exchange(recording.binned, {}), options.window, run.stop),
        .axes = std::move(recording.axes),
        .counts = recording.counts,
        .surrogates = options.surrogates,
        .spikes = std::move(recording.spikes),
        .bins = recording.bins,
        .time_origin_note = std::move(recording.time_origin_note),
        .warnings = std::move(recording.warnings)};
    note_windows(out, options, std::move(recording.rules));
    settle_surrogates(out, options, std::move(recording.epochs));
    warn_beforehand(out, options);
    return out;
}

spade_input prepare_spade(spade_windows windows, const spade_options& options) {
    check_spade(options, false);
    if (windows.window_bins() != options.window)
        throw invalid_argument(fmt::format("`window` is {}, and the windows have {} bins",
                                           options.window, windows.window_bins()));
    spade_input out{.windows = std::move(windows), .surrogates = options.surrogates};
    out.axes.unit_names.reserve(out.windows.unit_count());
    for (std::size_t unit = 0; unit < out.windows.unit_count(); ++unit)
        out.axes.unit_names.push_back(std::to_string(unit));
    out.axes.timed = false;
    note_windows(out, options, rules_of(options, {}, {}));
    warn_beforehand(out, options);
    return out;
}

}  // namespace spikeweave
