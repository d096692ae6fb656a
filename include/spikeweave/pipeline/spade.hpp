#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/assess/spade/stability.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/pipeline/spade/options.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The whole SPADE analysis, from spikes to the remaining patterns, as one call, `run_spade`, or as
/// its stages: bin_recording, prepare_spade, run_spade. The command `spikeweave spade` and Python's
/// `spikeweave.spade` make the same calls.
namespace spikeweave {

/// The meaning of the numbers in a pattern table: units, bins and times.
struct SPIKEWEAVE_API pattern_axes {
    std::vector<std::string> unit_names{};
    std::uint32_t window_bins = 1;
    duration bin = std::chrono::milliseconds{5};
    duration origin{};  ///< left edge of bin 0
    /// A segment of joined epochs: `begin` on the joined time axis is `original` in the recording.
    struct segment {
        duration begin{};
        duration original{};
    };
    /// The segments, ascending; empty if the recording was not made of epochs.
    std::vector<segment> segments{};
    /// Whether occurrences are start bins. If not, they are numbers of windows, from 0.
    bool timed = true;

    /// The left edge of a bin in the time of the original recording.
    duration time_of(std::uint32_t start) const;
};

/// The counts of a search's input, for the record of the run.
struct pattern_input {
    std::size_t spikes = 0;
    std::size_t clipped = 0;  ///< spikes that share a bin with an earlier spike of their unit
    std::size_t outside = 0;  ///< spikes in no bin
    std::uint64_t bins = 0;
    std::uint64_t windows = 0;
    std::uint64_t items = 0;
    duration length{};
};

/// The requested part of a recording, in bins. This is a separate stage because the windows that
/// are made from it may need much memory.
struct binned_recording {
    /// The spikes that were binned; joined epochs have their own time axis.
    spike_sequence spikes{};
    binning_options bins{};
    binned_spikes binned{};
    pattern_axes axes{};
    pattern_input counts{};           ///< without the numbers of windows and items
    std::vector<time_span> epochs{};  ///< on the time axis of `spikes`
    std::vector<pattern_rule> rules{};
    std::string time_origin_note{};       ///< where bins and trials begin, and why
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
};

/// Cuts the recording, joins the epochs, bins the spikes and determines the rules.
/// @param has_recorded_span  whether the span of `spikes` is the recorded span. If not, trials and
/// Elephant's bins are counted from 0, unless some times are below 0.
/// @throws invalid_argument like `check_spade`, `concatenate_epochs`, `bin_spikes` and `rules_of`,
/// and if nothing lies between `t_start` and `t_stop`.
SPIKEWEAVE_API binned_recording bin_recording(spike_sequence spikes, const spade_options& options,
                                              bool has_recorded_span = true);

/// The input of the search, and how its numbers map back to the recording.
struct spade_input {
    spade_windows windows;
    pattern_axes axes{};
    pattern_input counts{};
    /// Options of the search, with the rules and without occurrences.
    pattern_mining_options mining{};
    /// The requested options, with the method and the trials filled in if patterns are tested.
    surrogate_options surrogates{};
    /// Makes surrogates of these spikes; set only if patterns are tested.
    std::optional<surrogate_maker> maker{};
    /// The spikes that were binned; empty if the windows already existed.
    spike_sequence spikes{};
    binning_options bins{};
    std::string time_origin_note{};       ///< where bins and trials begin, and why
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
};

/// Makes the windows, and determines how surrogates are made.
/// @param options  those that the recording was binned with
/// @throws invalid_argument like `spade_windows`, `regular_trials` and `surrogate_maker`;
/// cancelled.
SPIKEWEAVE_API spade_input prepare_spade(binned_recording recording, const spade_options& options,
                                         const execution& run = {});
/// Does the same for windows that already exist, of `options.window` bins. Units are named by their
/// numbers.
/// @throws invalid_argument like `check_spade`.
SPIKEWEAVE_API spade_input prepare_spade(spade_windows windows, const spade_options& options);

/// One step that removes patterns, with the numbers removed and left.
struct funnel_step {
    std::string step{};
    std::uint64_t removed = 0;
    std::uint64_t left = 0;
    std::string why{};
};
template <>
struct members_of<funnel_step> {
    static void list(const auto& to) {
        to("step", &funnel_step::step);
        to("removed", &funnel_step::removed);
        to("left", &funnel_step::left);
        to("why", &funnel_step::why);
    }
};

/// The test of a pattern in spikes in which it was not searched.
struct pattern_replication {
    std::uint32_t count = 0;
    double expected = 0;  ///< mean count in surrogates of these spikes
    double p = 1;
    double q = 1;  ///< p, corrected for the patterns that were tested
};

/// The patterns of a search in other spikes: in the held-out time, or in another recording.
struct spade_replication {
    /// One element for each pattern of the table; nothing for one with a missing unit.
    std::vector<std::optional<pattern_replication>> tests{};
    duration searched{};                       ///< the time in which patterns were searched
    std::vector<time_span> searched_epochs{};  ///< these, if a part of the time was held out
    duration observed{};                       ///< the time in which these spikes were observed
    std::size_t tested = 0;                    ///< patterns without a missing unit
    std::size_t replicated = 0;                ///< those of them that are significant
    std::vector<std::string> missing_units{};  ///< units of the search that these spikes lack
    /// Whether these spikes are another recording's.
    bool confirmed_elsewhere = false;
};

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
    /// The patterns in the held-out time, or in the confirming recording.
    std::optional<spade_replication> replication{};
    spade_strategy ran_on = spade_strategy::automatic;
    pattern_axes axes{};
    pattern_input counts{};
    std::string time_origin_note{};  ///< where bins and trials begin, and why
    pattern_mining_options mining{};
    /// The options as they were resolved: with the rules, the method of the surrogates and the
    /// settings that follow from it, and the strategy that ran. They repeat the analysis, also if
    /// it held out a part: which part it searched is in `replication`.
    spade_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// Other spikes, binned, in which the patterns of a search are tested.
struct replication_spikes {
    binned_recording recording{};
    surrogate_maker maker;
    std::uint32_t surrogates = 0;
    bool confirmed_elsewhere = false;     ///< whether they are another recording's
    spade_options asked{};                ///< the options of the whole analysis
    std::vector<std::string> warnings{};  ///< about the time that was divided, as full sentences
};

/// The options that search and the spikes that test, if a part is held out.
struct divided_recording {
    spade_options search{};  ///< its `epochs` are what is searched, and nothing of them is held out
    replication_spikes held_out;
};

/// Divides the time of a recording according to `hold_out`.
/// @throws invalid_argument if nothing would be searched, or nothing held out; as `bin_recording`.
SPIKEWEAVE_API divided_recording divide_recording(const spike_sequence& spikes,
                                                  const spade_options& options,
                                                  bool has_recorded_span = true);

/// Prepares another recording, in which the patterns of `spikes` are tested. Of the part of time,
/// only trials are taken from the options.
/// @throws invalid_argument if no unit is in both, both are the same, for `hold_out` or without
/// surrogates; as `bin_recording`.
SPIKEWEAVE_API replication_spikes confirming_recording(const spike_sequence& spikes,
                                                       const spike_sequence& other,
                                                       const spade_options& options,
                                                       bool has_recorded_span = true);

/// Counts and tests the patterns of a result in other spikes, each by itself against surrogates of
/// these. Units are the same if they have the same name; patterns with a unit that is missing are
/// not tested, with a warning. A warning suggests what to try if there is no pattern after time was
/// held out and the estimated `min_occ` of three spikes was the lowest one. The options of the
/// result are then those of the whole analysis. With ranks, on rank 0 only.
/// @throws invalid_argument if no unit is in both; cancelled.
SPIKEWEAVE_API void replicate(spade_result& found, const replication_spikes& in,
                              const execution& run = {});

/// Runs the whole analysis.
/// @param has_recorded_span  as for `bin_recording`
/// @param run  progress, cancellation and ranks; its threads are ignored, because those of the
/// options are used
/// @throws invalid_argument if an option is out of range or options contradict each other, or if
/// the search would take a day or longer on one thread (`check_cost`; not with ranks);
/// cancelled.
SPIKEWEAVE_API spade_result run_spade(const spike_sequence& spikes,
                                      const spade_options& options = {},
                                      bool has_recorded_span = true, const execution& run = {});

/// Does the same, and tests the patterns in another recording (`confirming_recording`).
/// @param recorded  whether the span of each of the two recordings is the recorded span
SPIKEWEAVE_API spade_result run_spade(const spike_sequence& spikes, const spike_sequence& confirm,
                                      const spade_options& options,
                                      std::pair<bool, bool> recorded = {true, true},
                                      const execution& run = {});

/// Runs the steps that the options enable on prepared windows: mines, removes patterns that are not
/// stable, tests with surrogates, keeps the significant patterns, reduces, and computes
/// stabilities. Patterns that are not significant are never held in memory, unless stability
/// decides which patterns are tested. The result is the same for any number of threads and ranks,
/// and complete on rank 0. Its warnings lack those of the preparation.
/// @param options  those that the windows were prepared with; without `hold_out`, from which
/// `divide_recording` makes options for the search
/// @param tallied  the maxima of all surrogates, from `tally_part`, if they were mined before
/// @throws invalid_argument like the functions for the single steps, or for `hold_out`; cancelled.
SPIKEWEAVE_API spade_result run_spade(const spade_input& prepared, const spade_options& options,
                                      const execution& run = {},
                                      const maxima_tally* tallied = nullptr);

/// Mines a part of the surrogates, so that several runs can divide them: the merged tallies of all
/// parts are the `tallied` of `run_spade`.
/// @throws invalid_argument also if there are more parts than surrogates.
SPIKEWEAVE_API maxima_tally tally_part(const spade_input& prepared, const spade_options& options,
                                       const surrogate_part& part, const execution& run = {});

/// A whole analysis that is ready to run.
struct spade_analysis {
    spade_options search{};  ///< those of the search: of the rest, if a part is held out
    spade_input prepared;
    /// The held-out time or the recording that confirms, if patterns are tested in other spikes.
    std::optional<replication_spikes> other{};
};

/// Bins the spikes, makes the windows, and prepares the spikes that test the patterns, if any.
/// @param confirm  another recording, as for `confirming_recording`; null: none
/// @param recorded  as for `run_spade`
/// @param guard  refuses windows that may need more memory; null: no bound
/// @throws invalid_argument like `bin_recording`, `divide_recording`, `confirming_recording` and
/// `check_memory`; cancelled.
SPIKEWEAVE_API spade_analysis prepare_spade(spike_sequence spikes, const spike_sequence* confirm,
                                            const spade_options& options,
                                            std::pair<bool, bool> recorded = {true, true},
                                            const execution& run = {},
                                            const memory_guard* guard = nullptr);

/// Runs a prepared analysis; the parameters are those of the other `run_spade`. Its warnings begin
/// with those of the preparation.
SPIKEWEAVE_API spade_result run_spade(const spade_analysis& analysis, const execution& run = {},
                                      const maxima_tally* tallied = nullptr);

/// The result of a search whose patterns are not held in memory.
struct spade_stream_result {
    spade_result found{};        ///< all signatures, and the patterns that were kept
    std::uint64_t patterns = 0;  ///< number of all patterns
    /// The numbers of the patterns that were kept, among all patterns, from 1.
    std::vector<std::uint64_t> numbers{};
};

/// Mines without tests, reduction and stability, and passes the patterns on block by block, because
/// there may be more than memory holds. The result is complete on rank 0 and empty on the others.
/// @param options    those that the windows were prepared with
/// @param most_kept  number of patterns that the result has, with occurrences: those with most
/// spikes, then most occurrences
/// @param take       gets the blocks in the order of `mine_patterns`, on rank 0
/// @param with_occurrences  whether the blocks have occurrences
/// @throws invalid_argument, cancelled, like `mine_patterns`.
SPIKEWEAVE_API spade_stream_result
stream_spade(const spade_input& prepared, const spade_options& options, std::size_t most_kept,
             const std::function<void(const pattern_table& block)>& take,
             bool with_occurrences = false, const execution& run = {});

}  // namespace spikeweave
