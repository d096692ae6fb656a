#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/given_time.hpp"
#include "core/grouped.hpp"
#include "spikeweave/assess/pattern_search.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

std::vector<std::size_t> counts_of(const spike_sequence& spikes) {
    std::vector<std::size_t> counts(spikes.unit_count(), 0);
    for (const unit_id unit : spikes.units()) ++counts[index(unit)];
    return counts;
}

spike_sequence within(const spike_sequence& spikes, const time_span& span) {
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::int64_t time = spikes.times_us()[i];
        if (time < span.begin.count() || time > span.end.count()) continue;
        times.push_back(time);
        units.push_back(spikes.units()[i]);
    }
    return {std::move(times), std::move(units), spikes.unit_names(), span};
}

// Trials and Elephant's bins are counted from the beginning of the recording. If the file does not
// state it, times are taken to be counted from it, unless some are below 0.
spike_sequence from_zero(const spade_options& request, spike_sequence spikes) {
    const bool asked = request.trial_length || request.elephant != elephant_mode::none;
    const time_span recorded = spikes.span();
    if (!asked || recorded.begin <= duration{0}) return spikes;
    return within(spikes, {duration{0}, recorded.end});
}

// Joins the epochs, each of which is a trial.
void join_epochs(const spade_options& request, binned_recording& out) {
    const duration window = request.bin * request.window;
    const duration separation = request.epochs_apart();
    if (separation < window)
        out.warnings.push_back(fmt::format(
            "Epochs are {} apart and windows {} long: patterns may reach from one into the next.",
            format_duration(separation), format_duration(window)));
    concatenated_epochs joined = concatenate_epochs(out.spikes, request.epochs, separation);
    for (std::size_t e = 0; e < joined.spans.size(); ++e)
        out.axes.stretches.push_back({joined.spans[e].begin, joined.sources[e].begin});
    out.epochs = std::move(joined.spans);
    if (joined.outside > 0)
        out.warnings.push_back(fmt::format("{} of {} spikes are in no epoch.",
                                           grouped(joined.outside), grouped(out.spikes.size())));
    out.spikes = std::move(joined.spikes);
}

binning_options bins_of(const spade_options& request, const spike_sequence& spikes) {
    binning_options bins{.bin = request.bin};
    if (request.elephant != elephant_mode::none)
        bins.arithmetic = request.elephant == elephant_mode::seconds
                              ? bin_arithmetic::elephant_seconds
                              : bin_arithmetic::elephant_milliseconds;
    if (!request.from && !request.until) return bins;
    const time_span recorded = spikes.span();
    bins.span =
        time_span{request.from.value_or(recorded.begin), request.until.value_or(recorded.end)};
    if (bins.span->begin >= bins.span->end)
        throw invalid_argument(
            fmt::format("there is nothing between {} {} and {} {}; the recording is {} to {}",
                        request.name_of("from"), format_duration(bins.span->begin),
                        request.name_of("until"), format_duration(bins.span->end),
                        format_duration(recorded.begin), format_duration(recorded.end)));
    return bins;
}

// The time at which the first bin begins: by default, the multiple of the bin width at or below the
// beginning of the recording.
std::string beginning_of(const spade_options& request, bool stated, duration begin,
                         duration origin) {
    std::string why = request.from              ? request.name_of("from")
                      : !request.epochs.empty() ? "the first epoch"
                      : stated                  ? "as the file says"
                      : begin == duration{0}    ? "the file does not say"
                                                : "the first spike: the file does not say";
    if (origin != begin && request.epochs.empty())
        why = fmt::format("the multiple of the bin below {}, {}", format_duration(begin), why);
    return fmt::format("{} ({})", format_duration(origin), why);
}

void warn_of_binning(const pattern_input& facts, std::vector<std::string>& warnings) {
    if (facts.clipped > 0)
        warnings.push_back(
            fmt::format("{} of {} spikes share a bin with another of their unit, and count once.",
                        grouped(facts.clipped), grouped(facts.spikes)));
    if (facts.outside > 0)
        warnings.push_back(fmt::format("{} of {} spikes are in no bin and are not mined.",
                                       grouped(facts.outside), grouped(facts.spikes)));
}

void note_windows(spade_input& out, const spade_options& request, std::vector<pattern_rule> rules) {
    out.axes.window_bins = request.window;
    out.axes.bin = request.bin;
    out.facts.windows = out.windows.size();
    out.facts.items = out.windows.item_count();
    out.mining = {.rules = std::move(rules),
                  .max_occ = request.max_occ,
                  .drop_window_subsets =
                      !request.keep_window_subsets && request.window > 1 && out.windows.from_bins(),
                  .with_occurrences = false,
                  .take_identical_windows = request.compat() == compatibility::elephant,
                  .strategy = request.strategy};
}

void settle_surrogates(spade_input& out, const spade_options& request,
                       std::vector<time_span> epochs) {
    if (!request.is_tested()) return;
    const bool as_elephant = request.compat() == compatibility::elephant;
    out.surrogates.method = request.method.value_or(request.usual_method());
    out.surrogates.trials =
        request.trial_length
            ? regular_trials(out.spikes.span(), *request.trial_length, request.trial_separation,
                             as_elephant ? last_trial::elephant : last_trial::kept)
            : std::move(epochs);
    out.maker.emplace(out.spikes, out.surrogates, out.bins);
}

void warn_of_nothing(spade_input& out, const spade_options& request) {
    const std::uint32_t surrogates = request.surrogates.surrogates;
    if (surrogates > 0 && 1.0 / (1.0 + surrogates) > request.alpha)
        out.warnings.push_back(fmt::format(
            "With {} surrogates nothing can be significant at alpha {}: no p is below {:.2g}. Use "
            "at least {}.",
            grouped(surrogates), request.alpha, 1.0 / (1.0 + surrogates),
            grouped(static_cast<std::uint64_t>(std::ceil(1 / request.alpha - 1)))));
    if (out.windows.size() == 0) out.warnings.emplace_back("No spike is in a bin.");
}

}  // namespace

duration pattern_axes::time_of(std::uint32_t start) const {
    const duration at = origin + bin * start;
    const auto after = std::upper_bound(stretches.begin(), stretches.end(), at,
                                        [](duration t, const stretch& s) { return t < s.begin; });
    // A window may begin in the same bin as a segment; the left edge of that bin may be earlier.
    if (after == stretches.begin())
        return stretches.empty() ? at : stretches.front().original + (at - stretches.front().begin);
    const stretch& of = *(after - 1);
    return of.original + (at - of.begin);
}

binned_recording bin_recording(spike_sequence spikes, const spade_options& request,
                               bool has_recorded_span) {
    check_request(request);
    binned_recording out{.spikes = std::move(spikes)};
    check_given_time("A bin is", request.bin, out.warnings);
    if (request.is_tested())
        check_given_time("The dither is", request.surrogates.dither, out.warnings);
    if (!has_recorded_span) out.spikes = from_zero(request, std::move(out.spikes));
    if (!request.epochs.empty()) join_epochs(request, out);
    out.bins = bins_of(request, out.spikes);
    if (out.bins.span) out.spikes = within(out.spikes, *out.bins.span);
    binning_result binned = bin_spikes(out.spikes, out.bins);
    out.axes.unit_names = out.spikes.unit_names();
    out.axes.origin = binned.origin;
    out.beginning =
        beginning_of(request, has_recorded_span, out.spikes.span().begin, binned.origin);
    out.facts = {.spikes = out.spikes.size(),
                 .clipped = binned.clipped,
                 .outside = binned.outside,
                 .bins = binned.spikes.bin_count(),
                 .length = out.spikes.span().length()};
    warn_of_binning(out.facts, out.warnings);
    out.rules = rules_of(request, counts_of(out.spikes), out.facts.length);
    out.binned = std::move(binned.spikes);
    return out;
}

spade_input prepare_spade(binned_recording recording, const spade_options& request,
                          const execution& run) {
    spade_input out{
        // The exchange frees the binned spikes once the windows are made.
        .windows = spade_windows(std::exchange(recording.binned, {}), request.window, run.stop),
        .axes = std::move(recording.axes),
        .facts = recording.facts,
        .surrogates = request.surrogates,
        .spikes = std::move(recording.spikes),
        .bins = recording.bins,
        .beginning = std::move(recording.beginning),
        .warnings = std::move(recording.warnings)};
    note_windows(out, request, std::move(recording.rules));
    settle_surrogates(out, request, std::move(recording.epochs));
    warn_of_nothing(out, request);
    return out;
}

spade_input prepare_spade(spade_windows windows, const spade_options& request) {
    check_request(request, false);
    if (windows.window_bins() != request.window)
        throw invalid_argument(fmt::format("{} is {}, and the windows have {} bins",
                                           request.name_of("window"), request.window,
                                           windows.window_bins()));
    spade_input out{.windows = std::move(windows), .surrogates = request.surrogates};
    out.axes.unit_names.reserve(out.windows.unit_count());
    for (std::size_t unit = 0; unit < out.windows.unit_count(); ++unit)
        out.axes.unit_names.push_back(std::to_string(unit));
    out.axes.timed = false;
    note_windows(out, request, rules_of(request, {}, {}));
    warn_of_nothing(out, request);
    return out;
}

}  // namespace spikeweave
