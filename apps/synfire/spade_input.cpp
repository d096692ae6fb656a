#include "spade_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "output.hpp"
#include "values.hpp"

namespace synfire::cli {
namespace {

std::vector<std::size_t> counts_of(const spike_sequence& spikes) {
    std::vector<std::size_t> counts(spikes.unit_count(), 0);
    for (const unit_id unit : spikes.units()) ++counts[index(unit)];
    return counts;
}

// Before the memory is asked for: a system that promises more than it has would end us.
void check_memory(std::uint64_t bytes, const std::string& what, const spade_choices& choices) {
    const bool bounded = choices.max_memory_bytes > 0;
    const std::uint64_t most = bounded ? choices.max_memory_bytes : physical_memory_bytes();
    if (bytes <= most) return;
    throw invalid_argument(fmt::format("{} may take {}, more than {} {}", what, memory_text(bytes),
                                       bounded ? "--max-memory" : "the memory of this computer,",
                                       memory_text(most)));
}

// A search counts the windows of all items that there could be.
void check_items_fit(std::size_t units, const spade_choices& choices) {
    constexpr std::uint64_t bytes_per_item = 12;
    constexpr std::uint64_t bytes_per_unit = 64;
    const std::uint64_t numbered = std::numeric_limits<std::int32_t>::max();
    if (units * std::uint64_t{choices.window} > numbered) return;  // which is refused anyway
    check_memory(units * (std::uint64_t{choices.window} * bytes_per_item + bytes_per_unit),
                 fmt::format("{} units in windows of {} bins", grouped(units), choices.window),
                 choices);
}

// Items are UNIT * WINDOW + BIN: all that is known of units is their numbers.
spade_input read_given_windows(const spade_choices& choices, const execution& run) {
    spade_input in{.windows = read_transactions(choices.path, choices.window, run)};
    check_items_fit(in.windows.unit_count(), choices);
    in.axes.unit_names.reserve(in.windows.unit_count());
    for (std::size_t unit = 0; unit < in.windows.unit_count(); ++unit)
        in.axes.unit_names.push_back(std::to_string(unit));
    in.axes.timed = false;
    in.rules = rules_of(choices, {}, {});
    in.record.input = describe_input(choices.path, run);
    return in;
}

void note_file(run_record& record, const spike_file& file) {
    record.warnings = file.warnings;
    for (std::string& warning : check_spikes(file.spikes))
        record.warnings.push_back(std::move(warning));
    record.duplicates = file.duplicates;
    record.stimuli = file.stimulus_us.size();
    if (file.duplicates > 0)
        record.warnings.push_back(
            fmt::format("{} spikes stood twice and were dropped.", grouped(file.duplicates)));
    if (!file.stimulus_us.empty())
        record.warnings.push_back(
            fmt::format("{} stimulus markers are not mined.", grouped(file.stimulus_us.size())));
}

// Joins the epochs, each of which is a trial.
spike_sequence join_epochs(const spade_choices& choices, const spike_sequence& spikes,
                           spade_input& in, const execution& run) {
    const std::vector<time_span> epochs = read_epochs(choices.epochs, run);
    const duration window = choices.bin * choices.window;
    const duration separation = choices.separation.value_or(2 * window);
    if (separation < window)
        in.record.warnings.push_back(fmt::format(
            "Epochs are {} apart and windows {} long: patterns may reach from one into the next.",
            format_duration(separation), format_duration(window)));
    concatenated_epochs joined = concatenate_epochs(spikes, epochs, separation);
    for (std::size_t e = 0; e < joined.spans.size(); ++e)
        in.axes.stretches.push_back({joined.spans[e].begin, joined.sources[e].begin});
    in.trials = joined.spans;
    if (joined.outside > 0)
        in.record.warnings.push_back(fmt::format("{} of {} spikes are in no epoch.",
                                                 grouped(joined.outside), grouped(spikes.size())));
    return std::move(joined.spikes);
}

binning bins_of(const spade_choices& choices, const spike_sequence& spikes) {
    binning bins{.bin = choices.bin};
    if (choices.elephant != elephant_mode::none)
        bins.arithmetic = choices.elephant == elephant_mode::seconds
                              ? bin_arithmetic::elephant_seconds
                              : bin_arithmetic::elephant_milliseconds;
    if (!choices.from && !choices.until) return bins;
    const time_span recorded = spikes.span();
    bins.span =
        time_span{choices.from.value_or(recorded.begin), choices.until.value_or(recorded.end)};
    if (bins.span->begin >= bins.span->end)
        throw invalid_argument(
            fmt::format("there is nothing between --from {} and --to {}; the recording is {} to {}",
                        format_duration(bins.span->begin), format_duration(bins.span->end),
                        format_duration(recorded.begin), format_duration(recorded.end)));
    return bins;
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

// Trials and Elephant's bins are counted from the beginning of the recording; a file that does not
// say when that was tells of it by its times, unless some are below 0.
spike_sequence from_zero(const spade_choices& choices, spike_sequence spikes) {
    const bool asked = choices.trial_length || choices.elephant != elephant_mode::none;
    const time_span recorded = spikes.span();
    if (!asked || recorded.begin <= duration{0}) return spikes;
    return within(spikes, {duration{0}, recorded.end});
}

// Where bins and trials are counted from.
std::string beginning_of(const spade_choices& choices, bool stated, duration origin) {
    return fmt::format("{} ({})", format_duration(origin),
                       choices.from              ? "--from"
                       : !choices.epochs.empty() ? "the first epoch"
                       : stated                  ? "as the file says"
                       : origin == duration{0}   ? "the file does not say"
                                                 : "the first spike: the file does not say");
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

spade_input read_recording(const spade_choices& choices, session& now) {
    const execution run = now.run(choices.threads);
    spade_input in{.windows = spade_windows(binned_spikes(), 1)};
    spike_file file = read_spikes(choices.path, choices.how, run);
    note_file(in.record, file);
    in.record.input = describe_input(choices.path, run);
    now.stop_if_asked();
    in.spikes = std::move(file.spikes);
    if (!file.states_span) in.spikes = from_zero(choices, std::move(in.spikes));
    if (!choices.only_units.empty()) in.spikes = only_units(in.spikes, choices.only_units);
    if (!choices.epochs.empty()) in.spikes = join_epochs(choices, in.spikes, in, run);

    in.bins = bins_of(choices, in.spikes);
    if (in.bins.span) in.spikes = within(in.spikes, *in.bins.span);
    binning_result binned = bin_spikes(in.spikes, in.bins);
    in.axes.unit_names = in.spikes.unit_names();
    in.axes.origin = binned.origin;
    in.beginning = beginning_of(choices, file.states_span, binned.origin);
    in.facts = {.spikes = in.spikes.size(),
                .clipped = binned.clipped,
                .outside = binned.outside,
                .bins = binned.spikes.bin_count(),
                .length = in.spikes.span().length()};
    warn_of_binning(in.facts, in.record.warnings);
    in.rules = rules_of(choices, counts_of(in.spikes), in.facts.length);
    // A window begins at a spike, and a spike is in a window once.
    const std::uint64_t windows = std::min<std::uint64_t>(
        binned.spikes.size(), std::min(choices.window, binned.spikes.bin_count()));
    check_memory(binned.spikes.size() * windows * sizeof(pattern_item),
                 fmt::format("{} binned spikes in windows of {} bins",
                             grouped(binned.spikes.size()), choices.window),
                 choices);
    check_items_fit(binned.spikes.unit_count(), choices);
    in.windows = spade_windows(binned.spikes, choices.window, run.stop);
    return in;
}

void settle_surrogates(spade_choices& choices, spade_input& in) {
    surrogate_options& surrogates = choices.surrogates;
    if (choices.trial_length)
        in.trials = regular_trials(
            in.spikes.span(), *choices.trial_length, choices.trial_separation,
            choices.compat() == compatibility::elephant ? last_trial::elephant : last_trial::kept);
    surrogates.method = choices.method.value_or(choices.usual_method());
    surrogates.trials = in.trials;
}

}  // namespace

spade_input read_input(spade_choices& choices, session& now) {
    spade_input in = choices.transactions ? read_given_windows(choices, now.run(choices.threads))
                                          : read_recording(choices, now);
    in.axes.window_bins = choices.window;
    in.axes.bin = choices.bin;
    in.facts.windows = in.windows.size();
    in.facts.items = in.windows.item_count();
    if (choices.surrogates.surrogates > 0) settle_surrogates(choices, in);
    return in;
}

}  // namespace synfire::cli
