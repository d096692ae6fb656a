#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/assess/episodes/pair_tests.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/pipeline/run_options.hpp"

/// The whole analysis of serial episodes, from spikes to a circuit, as one call. The command
/// `spikeweave episodes` and Python's `spikeweave.episodes` make the same call.
namespace spikeweave {

/// All options of the analysis, with their defaults.
struct episode_options {
    epoch_options time{};  ///< the part of the recording that is analysed
    episode_mining_options mining{.delays = default_delays()};
    significance_options significance{};
    surrogate_options surrogates{};
    /// The share of the time that is held out: episodes are searched in the rest, and those with a
    /// p below alpha there are counted and tested in the held-out time. 0: all is searched and
    /// tested.
    double hold_out = 0;
    /// Time is held out in blocks of this length, evenly spread; epochs are held out as a whole.
    duration hold_out_block = std::chrono::seconds{10};
    run_options run{};
};

SPIKEWEAVE_API option_list describe(episode_options& options);

/// An episode of a search that cannot be tested in another recording, which lacks a unit of it.
struct untested_episode {
    counted_episode found{};  ///< its units are indices into `episode_search::unit_names`
    episode_test test{};      ///< in the search
};

/// The results of the search in its own spikes, if its findings were tested in others: in the
/// held-out time, or in another recording.
struct episode_search {
    /// One element for each episode of the table, which are tested in the other spikes.
    std::vector<std::uint64_t> counts{};
    std::vector<episode_test> tests{};
    duration observed{};          ///< the time in which spikes were observed in the search
    std::size_t significant = 0;  ///< episodes of the table with a q below alpha in the search
    /// Those of them with a q below alpha in the other spikes as well.
    std::size_t replicated = 0;
    /// Whether the other spikes are another recording's (`confirm_episodes`).
    bool confirmed_elsewhere = false;
    std::vector<std::string> unit_names{};     ///< the units that were searched
    std::vector<std::string> missing_units{};  ///< those of them that the other recording lacks
    /// Episodes with a p below alpha in the search and such a unit, longest first, then by q and p.
    /// None of them is counted above.
    std::vector<untested_episode> untested{};
};

/// The frequent episodes, their tests, and the circuit that follows from them.
struct episode_result {
    /// The spikes that were analysed, if the options choose a part of the recording; if a part was
    /// held out, its spikes, and if another recording confirms, the spikes of that: counts and
    /// tests are of these.
    std::optional<spike_sequence> chosen{};
    /// Nothing unless a part was held out, or another recording confirms.
    std::optional<episode_search> searched{};
    episode_table table{};
    /// One element for each episode of the table, by the test of the options.
    std::vector<episode_test> assessed{};
    /// One element for each episode of the table; empty if no surrogates were requested.
    std::vector<surrogate_test> surrogates{};
    spikeweave::circuit circuit{};
    /// The tests of all pairs that the circuit was built from; nothing if it was built from those
    /// of the table, because surrogates or another test than `jitter` decide.
    std::optional<pair_tests> pairs{};
    /// The options as they were resolved: with the threshold as `min_count`, and the strategy, its
    /// variants and the devices that ran. They repeat the analysis.
    episode_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// The test results that decide on the circuit: those of surrogates if there are any.
SPIKEWEAVE_API std::vector<episode_test> deciding_tests(const episode_result& result);

/// Warnings that need no search; `find_episodes` also returns them.
/// @throws invalid_argument if an option is out of range.
SPIKEWEAVE_API std::vector<std::string> check_episodes(const spike_sequence& spikes,
                                                       const episode_options& options);

/// Mines frequent episodes, tests them, and finds the circuit. Ranks share the surrogates; all else
/// is done on each of them.
/// @param run  progress, cancellation and ranks; its threads and devices are ignored, because those
/// of the options are used
/// @throws invalid_argument if an option is out of range; device_error; cancelled.
SPIKEWEAVE_API episode_result find_episodes(const spike_sequence& spikes,
                                            const episode_options& options = {},
                                            const execution& run = {});

/// Mines frequent episodes in a recording, and tests those with a p below alpha there in another
/// one, as `find_episodes` tests them in the held-out time. Units are the same if they have the
/// same name; episodes that cannot be tested because a unit is missing are in
/// `episode_search::untested`, with a warning.
/// @param other    the recording, or epochs of it, in which findings are tested
/// @param options  `t_start`, `t_stop` and `epochs` are of `spikes`; trials are taken in both
/// @throws invalid_argument also if no unit is in both recordings, if all spikes of `other` are in
/// `spikes`, or for `hold_out`.
SPIKEWEAVE_API episode_result confirm_episodes(const spike_sequence& spikes,
                                               const spike_sequence& other,
                                               const episode_options& options = {},
                                               const execution& run = {});

/// Does the same as `find_episodes` with surrogates that were counted before.
/// @param counted  the merged tallies of all parts, from `count_part`
SPIKEWEAVE_API episode_result find_episodes(const spike_sequence& spikes,
                                            const episode_options& options, const execution& run,
                                            const surrogate_tally& counted);

/// Mines frequent episodes and counts them in a part of the surrogates, so that several runs can
/// divide the surrogates.
/// @throws invalid_argument also if there are more parts than surrogates.
SPIKEWEAVE_API surrogate_tally count_part(const spike_sequence& spikes,
                                          const episode_options& options,
                                          const surrogate_part& part, const execution& run = {});

/// Options of counting alone.
struct episode_counting_options {
    episode_count_options counting{};
    run_options run{};
};

SPIKEWEAVE_API option_list describe(episode_counting_options& options);

/// Counts these episodes without overlap.
/// @throws invalid_argument if an option is out of range; device_error; cancelled.
SPIKEWEAVE_API episode_count_result
count_given_episodes(const spike_sequence& spikes, std::span<const episode> given,
                     const episode_counting_options& options = {}, const execution& run = {});

/// Options of counting and testing.
struct given_episode_options {
    epoch_options time{};  ///< the part of the recording in which they are counted
    episode_counting_options counting{};
    significance_options significance{};
    surrogate_options surrogates{};
};

SPIKEWEAVE_API option_list describe(given_episode_options& options);

/// The options of an analysis that apply to given episodes.
SPIKEWEAVE_API given_episode_options options_for_given(const episode_options& options);

/// Counts and tests these episodes instead of searching; no other pairs are tested. The command
/// `spikeweave count` and Python's `spikeweave.count` make the same call.
/// @return the options of the result are those of the analysis; `options_for_given` are those used
/// @throws as `find_episodes`.
SPIKEWEAVE_API episode_result count_and_test_episodes(const spike_sequence& spikes,
                                                      std::span<const episode> given,
                                                      const given_episode_options& options = {},
                                                      const execution& run = {});

}  // namespace spikeweave
