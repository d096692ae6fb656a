#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spikeweave/assess/pattern_significance.hpp"
#include "spikeweave/assess/stability.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// SPADE from spikes to the patterns that are left: bin_recording, prepare_windows, find_patterns.
/// What `spikeweave spade` does, so that whoever calls it decides alike.
namespace spikeweave {

/// The published estimate from the rates.
struct auto_min_occ {
    friend bool operator==(const auto_min_occ&, const auto_min_occ&) = default;
};
/// Thresholds that differ by size: (spikes, occurrences), ascending; the last holds for all sizes
/// above.
using min_occ_by_size = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using min_occ_choice = std::variant<auto_min_occ, std::uint32_t, min_occ_by_size>;

/// Whether to decide as Elephant does, and in which unit of time its trains are.
enum class elephant_mode : std::uint8_t { none, seconds, milliseconds };

/// All that is asked for, with its defaults.
struct pattern_request {
    duration bin = std::chrono::milliseconds{5};
    std::uint32_t window = 20;  ///< in bins
    /// What is earlier or later is left out. Without them: nothing.
    std::optional<duration> from{};
    std::optional<duration> until{};
    /// Only these, one after another, each of which is a trial; not together with `from`, `until`
    /// and `trial_length`.
    std::vector<time_span> epochs{};
    std::optional<duration> separation{};  ///< between two epochs; two windows without one

    min_occ_choice min_occ = auto_min_occ{};
    /// Without one: 2; with `min_occ` by size the sizes that it names.
    std::optional<std::uint32_t> min_spikes{};
    std::uint32_t max_spikes = 0;  ///< 0: no bound
    /// Without one: 1; with `auto_min_occ` as many as spikes.
    std::optional<std::uint32_t> min_neu{};
    /// In place of `min_occ`, `min_spikes`, `max_spikes` and `min_neu`.
    std::vector<pattern_rule> rules{};
    std::uint32_t max_occ = 0;  ///< 0: no bound
    /// Keep what is a part of a longer pattern that begins earlier.
    bool keep_window_subsets = false;
    spade_strategy strategy = spade_strategy::automatic;

    /// `method` and the trials are settled by prepare_windows; what stands here for them is not
    /// looked at. The seed is that of `stable`, too.
    surrogate_options surrogates{.dither = std::chrono::milliseconds{15}};
    std::optional<surrogate_method> method{};  ///< usual_method() without one
    /// The recording is trials of this length, from its beginning.
    std::optional<duration> trial_length{};
    duration trial_separation{};
    spectrum_kind kind = spectrum_kind::size_count;
    double alpha = 0.01;
    correction correct = correction::benjamini_hochberg;
    /// h, k, l; without it nothing is reduced.
    std::optional<std::array<std::uint32_t, 3>> reduce{};
    /// Without it no stability is computed.
    std::optional<stability_options> stable{};
    /// Patterns are kept of which one stability is above this. Needs `stable`.
    stability least_stable{};
    elephant_mode elephant = elephant_mode::none;

    /// How messages call a field, for callers who have other names; null: as it is called here.
    std::string (*called)(std::string_view field) = nullptr;

    std::uint32_t least_spikes() const { return min_spikes.value_or(2); }
    duration epochs_apart() const { return separation.value_or(2 * bin * window); }
    surrogate_method usual_method() const;
    compatibility compat() const {
        return elephant == elephant_mode::none ? compatibility::none : compatibility::elephant;
    }
    bool is_tested() const { return surrogates.surrogates > 0; }
    bool filters_by_stability() const { return stable && least_stable != stability{}; }
    signature_testing testing() const {
        return {.alpha = alpha, .correct = correct, .compat = compat()};
    }
    std::string name_of(std::string_view field) const {
        return called ? called(field) : std::string(field);
    }
};

/// What can be said of a request without a look at the data.
/// @param has_spikes  and not only windows that were given
/// @throws invalid_argument for what cannot be or does not go together.
void check_request(const pattern_request& request, bool has_spikes = true);

/// The rules that are asked for; of `auto_min_occ` those of the rates, or without any the least.
/// @param spike_counts  of each unit, not clipped
/// @throws invalid_argument as `estimate_rules`.
std::vector<pattern_rule> rules_of(const pattern_request& request,
                                   std::span<const std::size_t> spike_counts, duration length);

/// What the numbers in a pattern table stand for.
struct pattern_axes {
    std::vector<std::string> unit_names{};
    std::uint32_t window_bins = 1;
    duration bin = std::chrono::milliseconds{5};
    duration origin{};  ///< left edge of bin 0
    /// A stretch of joined epochs: from `begin` on, times are those from `original` on.
    struct stretch {
        duration begin{};
        duration original{};
    };
    /// Ascending; empty when the recording was mined as it is.
    std::vector<stretch> stretches{};
    /// Whether windows start at bins. If not, occurrences are numbers of windows, from 0.
    bool timed = true;

    /// The left edge of a bin in the time of the original recording.
    duration time_of(std::uint32_t start) const;
};

/// What went into the search, for the record.
struct pattern_input {
    std::size_t spikes = 0;
    std::size_t clipped = 0;  ///< shared a bin with an earlier one of their unit
    std::size_t outside = 0;  ///< in no bin
    std::uint64_t bins = 0;
    std::uint64_t windows = 0;
    std::uint64_t items = 0;
    duration length{};
};

/// The part of a recording that is asked for, in bins: what there is before windows are made of it,
/// which may take much memory.
struct binned_recording {
    /// As they are binned: of joined epochs on their own axis.
    spike_sequence spikes{};
    binning bins{};
    binned_spikes binned{};
    pattern_axes axes{};
    pattern_input facts{};            ///< but for the windows
    std::vector<time_span> epochs{};  ///< on the axis of `spikes`
    std::vector<pattern_rule> rules{};
    std::string beginning{};              ///< of bins and trials, in words
    std::vector<std::string> warnings{};  ///< whole sentences
};

/// Cuts, joins epochs, bins; settles the rules.
/// @param states_span  whether the span is what was recorded. If not, trials and Elephant's bins
/// are counted from 0, unless some times are below that.
/// @throws invalid_argument as `check_request`, `concatenate_epochs`, `bin_spikes` and `rules_of`,
/// and if nothing lies between `from` and `until`.
binned_recording bin_recording(spike_sequence spikes, const pattern_request& request,
                               bool states_span = true);

/// What is mined, and how its numbers lead back to the recording.
struct prepared_windows {
    spade_windows windows;
    pattern_axes axes{};
    pattern_input facts{};
    /// With the rules; without occurrences.
    spade_options mining{};
    /// As asked for, with the method and the trials; unchanged when nothing is tested.
    surrogate_options surrogates{};
    /// Of these spikes; only when patterns are tested.
    std::optional<surrogate_maker> maker{};
    /// As they were binned; empty for windows that were given.
    spike_sequence spikes{};
    binning bins{};
    std::string beginning{};              ///< of bins and trials, in words
    std::vector<std::string> warnings{};  ///< whole sentences
};

/// Makes the windows; settles how surrogates are made.
/// @param request  that the recording was binned for
/// @throws invalid_argument as `spade_windows`, `regular_trials` and `surrogate_maker`; cancelled.
prepared_windows prepare_windows(binned_recording recording, const pattern_request& request,
                                 const execution& run = {});
/// The same for windows that are given, of `request.window` bins; units are named by their numbers.
/// @throws invalid_argument as `check_request`.
prepared_windows prepare_windows(spade_windows windows, const pattern_request& request);

/// What one step left of the patterns.
struct funnel_step {
    std::string step{};
    std::uint64_t removed = 0;
    std::uint64_t left = 0;
    std::string why{};
};
/// What the search itself left out.
std::vector<funnel_step> search_steps(const mining_summary& found, const pattern_request& request);

struct pattern_findings {
    pattern_table table{};  ///< what is left after all steps, with occurrences
    /// All found; empty when they were tested, since the tests have them.
    std::vector<signature_count> signatures{};
    std::optional<pattern_assessment> assessment{};
    /// Empty, or one element a pattern of the table.
    std::vector<stability> stabilities{};
    std::vector<funnel_step> funnel{};
    spade_strategy ran_on = spade_strategy::automatic;
    std::vector<std::string> warnings{};  ///< whole sentences
};

/// Mines, leaves out what is not stable, tests by surrogates, keeps what is significant, reduces,
/// computes stabilities: each if it is asked for. What is not significant is never held, unless
/// stabilities decide what is tested. The same for any number of threads and ranks, whole on rank
/// 0.
/// @param request  that the windows were prepared for
/// @throws invalid_argument as the calls that these are; cancelled.
pattern_findings find_patterns(const prepared_windows& prepared, const pattern_request& request,
                               const execution& run = {});

}  // namespace spikeweave
