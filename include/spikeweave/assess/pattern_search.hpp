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

/// The whole SPADE analysis, from spikes to the remaining patterns: bin_recording, prepare_spade,
/// find_patterns. `spikeweave spade` makes the same calls, so other callers get the same decisions.
namespace spikeweave {

/// Chooses `min_occ` for each size by the published estimate from the rates (`estimate_rules`).
struct auto_min_occ {
    friend bool operator==(const auto_min_occ&, const auto_min_occ&) = default;
};
/// Thresholds that differ by size, as pairs (spikes, occurrences), ascending. The last one also
/// holds for all larger sizes.
using min_occ_by_size = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using min_occ_choice = std::variant<auto_min_occ, std::uint32_t, min_occ_by_size>;

/// Whether to follow Elephant's decisions, and the unit of time of its spike trains.
enum class elephant_mode : std::uint8_t { none, seconds, milliseconds };

/// All options of a SPADE analysis, with their defaults.
struct spade_options {
    duration bin = std::chrono::milliseconds{5};
    std::uint32_t window = 20;  ///< length of a window in bins
    /// Spikes before `from` or after `until` are left out. If not set, nothing is left out.
    std::optional<duration> from{};
    std::optional<duration> until{};
    /// If given, only these epochs are analysed, one after another, and each is a trial. Cannot be
    /// combined with `from`, `until` or `trial_length`.
    std::vector<time_span> epochs{};
    std::optional<duration> separation{};  ///< gap between two epochs; if not set, two windows

    min_occ_choice min_occ = auto_min_occ{};
    /// If not set, 2; with `min_occ` by size, the sizes that it names.
    std::optional<std::uint32_t> min_spikes{};
    std::uint32_t max_spikes = 0;  ///< 0 means no bound
    /// If not set, 1; with `auto_min_occ`, the number of spikes.
    std::optional<std::uint32_t> min_neu{};
    /// If given, used instead of `min_occ`, `min_spikes`, `max_spikes` and `min_neu`.
    std::vector<pattern_rule> rules{};
    std::uint32_t max_occ = 0;  ///< 0 means no bound
    /// Keeps patterns that are part of a longer pattern that begins earlier.
    bool keep_window_subsets = false;
    spade_strategy strategy = spade_strategy::automatic;

    /// How surrogates are made. Its `method` and trials are ignored; `prepare_spade` sets them.
    /// Its seed is also used for `stable`.
    surrogate_options surrogates{.dither = std::chrono::milliseconds{15}};
    std::optional<surrogate_method> method{};  ///< if not set, usual_method()
    /// If set, the recording consists of trials of this length, from its beginning.
    std::optional<duration> trial_length{};
    duration trial_separation{};  ///< gap between the end of a trial and the next one
    spectrum_kind spectrum = spectrum_kind::size_count;
    double alpha = 0.01;
    correction_method correction = correction_method::benjamini_hochberg;
    /// h, k and l of the pattern set reduction. If not set, patterns are not reduced.
    std::optional<std::array<std::uint32_t, 3>> reduce{};
    /// How stability is computed. If not set, it is not.
    std::optional<stability_options> stable{};
    /// Only patterns with at least one of their two stabilities above this are kept. Needs
    /// `stable`.
    stability least_stable{};
    elephant_mode elephant = elephant_mode::none;

    /// Gives the name of a field in messages, for callers with other names; null means the names
    /// used here.
    std::string (*called)(std::string_view field) = nullptr;

    std::uint32_t least_spikes() const { return min_spikes.value_or(2); }
    duration epochs_apart() const { return separation.value_or(2 * bin * window); }
    surrogate_method usual_method() const;
    compatibility compat() const {
        return elephant == elephant_mode::none ? compatibility::none : compatibility::elephant;
    }
    bool is_tested() const { return surrogates.surrogates > 0; }
    bool filters_by_stability() const { return stable && least_stable != stability{}; }
    signature_test_options testing() const {
        return {.alpha = alpha, .correction = correction, .compat = compat()};
    }
    std::string name_of(std::string_view field) const {
        return called ? called(field) : std::string(field);
    }
};

/// Checks everything in a request that can be checked without the data.
/// @param has_spikes  false if only windows are available
/// @throws invalid_argument if an option is out of range or options contradict each other.
void check_request(const spade_options& request, bool has_spikes = true);

/// The rules of a request. For `auto_min_occ` they are estimated from the firing rates; without
/// rates, the lowest threshold is used.
/// @param spike_counts  number of spikes of each unit, not clipped
/// @throws invalid_argument like `estimate_rules`.
std::vector<pattern_rule> rules_of(const spade_options& request,
                                   std::span<const std::size_t> spike_counts, duration length);

/// The meaning of the numbers in a pattern table: units, bins and times.
struct pattern_axes {
    std::vector<std::string> unit_names{};
    std::uint32_t window_bins = 1;
    duration bin = std::chrono::milliseconds{5};
    duration origin{};  ///< left edge of bin 0
    /// A segment of joined epochs: `begin` on the joined time axis is `original` in the recording.
    struct stretch {
        duration begin{};
        duration original{};
    };
    /// The segments, ascending; empty if the recording was not made of epochs.
    std::vector<stretch> stretches{};
    /// Whether occurrences are start bins. If not, they are numbers of windows, from 0.
    bool timed = true;

    /// The left edge of a bin in the time of the original recording.
    duration time_of(std::uint32_t start) const;
};

/// Statistics of the input of a search, for the record of the run.
struct pattern_input {
    std::size_t spikes = 0;
    std::size_t clipped = 0;  ///< spikes that share a bin with an earlier spike of their unit
    std::size_t outside = 0;  ///< spikes in no bin
    std::uint64_t bins = 0;
    std::uint64_t windows = 0;
    std::uint64_t items = 0;
    duration length{};
};

/// The requested part of a recording, in bins. This is a stage of its own because the windows that
/// are made of it may take much memory.
struct binned_recording {
    /// The spikes that were binned; joined epochs have a time axis of their own.
    spike_sequence spikes{};
    binning_options bins{};
    binned_spikes binned{};
    pattern_axes axes{};
    pattern_input facts{};            ///< without the numbers of windows and items
    std::vector<time_span> epochs{};  ///< on the time axis of `spikes`
    std::vector<pattern_rule> rules{};
    std::string beginning{};              ///< says in words where bins and trials begin
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
};

/// Cuts the recording, joins the epochs, bins the spikes and determines the rules.
/// @param has_recorded_span  whether the span of `spikes` is what was recorded. If not, trials and
/// Elephant's bins are counted from 0, unless some times are below 0.
/// @throws invalid_argument like `check_request`, `concatenate_epochs`, `bin_spikes` and
/// `rules_of`, and if nothing lies between `from` and `until`.
binned_recording bin_recording(spike_sequence spikes, const spade_options& request,
                               bool has_recorded_span = true);

/// The input of the search, and how its numbers map back to the recording.
struct spade_input {
    spade_windows windows;
    pattern_axes axes{};
    pattern_input facts{};
    /// Options of the search, with the rules and without occurrences.
    pattern_mining_options mining{};
    /// The requested options, with the method and the trials filled in if patterns are tested.
    surrogate_options surrogates{};
    /// Makes surrogates of these spikes; set only if patterns are tested.
    std::optional<surrogate_maker> maker{};
    /// The spikes that were binned; empty if the windows already existed.
    spike_sequence spikes{};
    binning_options bins{};
    std::string beginning{};              ///< says in words where bins and trials begin
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
};

/// Makes the windows, and determines how surrogates are made.
/// @param request  the request that the recording was binned for
/// @throws invalid_argument like `spade_windows`, `regular_trials` and `surrogate_maker`;
/// cancelled.
spade_input prepare_spade(binned_recording recording, const spade_options& request,
                          const execution& run = {});
/// Does the same for windows that already exist, of `request.window` bins. Units are named by their
/// numbers.
/// @throws invalid_argument like `check_request`.
spade_input prepare_spade(spade_windows windows, const spade_options& request);

/// One step that removes patterns, with the numbers removed and left.
struct funnel_step {
    std::string step{};
    std::uint64_t removed = 0;
    std::uint64_t left = 0;
    std::string why{};
};
/// The steps of the funnel that the search itself did.
std::vector<funnel_step> search_steps(const mining_summary& found, const spade_options& request);

/// The result of a SPADE analysis.
struct spade_result {
    pattern_table table{};  ///< the patterns left after all steps, with occurrences
    /// The signatures of all patterns found; empty if they were tested, since `assessment` has
    /// them.
    std::vector<signature_count> signatures{};
    std::optional<pattern_test_result> assessment{};
    /// One element for each pattern of the table; empty if stability was not computed.
    std::vector<stability> stabilities{};
    std::vector<funnel_step> funnel{};
    spade_strategy ran_on = spade_strategy::automatic;
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
};

/// Runs the steps that the request enables: mines, removes patterns that are not stable, tests with
/// surrogates, keeps the significant patterns, reduces, and computes stabilities. Patterns that are
/// not significant are never held in memory, unless stability decides what is tested. The result is
/// the same for any number of threads and ranks, and complete on rank 0.
/// @param request  the request that the windows were prepared for
/// @throws invalid_argument like the functions for the single steps; cancelled.
spade_result find_patterns(const spade_input& prepared, const spade_options& request,
                           const execution& run = {});

}  // namespace spikeweave
