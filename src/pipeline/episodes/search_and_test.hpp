#pragma once

#include <optional>
#include <span>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/pipeline/run_options.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::pipeline {

/// As `find_episodes`, but does not warn of units that the default threshold leaves out of all
/// tests: for searches whose threshold is not the user's.
/// @param counted  surrogates that were counted before, or null
episode_result find_and_test(const spike_sequence& recording, const episode_options& options,
                             const execution& run, const surrogate_tally* counted = nullptr);

/// All pairs at the delays of a search, or none if it is for units alone.
choice_of_pairs pairs_of(const episode_mining_options& options);

/// As `count_and_test_episodes`, with a choice of the pairs that are tested for connections.
episode_result count_and_test(const spike_sequence& recording, std::span<const episode> given,
                              const choice_of_pairs& pairs, const episode_options& options,
                              const execution& run);

/// Searches in some spikes, and tests in others what has a p below alpha there, so that only few
/// tests are corrected for, of counts that had no part in the choice. Units are the same if they
/// have the same name.
/// @param tested   becomes the `part` of the result
/// @param in_other_recording  whether these are of another recording than those searched
/// @param options  their choice of time is ignored, because both parts were chosen before
/// @throws invalid_argument if no unit is in both; as `find_episodes`.
episode_result search_and_test(const spike_sequence& searched, spike_sequence tested,
                               bool in_other_recording, const episode_options& options,
                               const execution& run);

/// Does so in two parts of the time of a recording.
/// @param spikes  the part of the recording that the options choose
/// @throws invalid_argument if nothing would be searched, or nothing held out; as `find_episodes`.
episode_result find_in_divided_time(const spike_sequence& spikes, const episode_options& options,
                                    const execution& run);

/// The execution for counting: if the options leave the device open, GPUs are used when they are
/// likely to be faster and have the strategy.
execution counting_on(const spike_sequence& spikes, episode_strategy strategy,
                      const run_options& how, execution run);

/// Says which units are in no frequent pair, so that nothing is known of their connections, if a
/// quarter or more of the units with enough spikes are not. Who chose the threshold, or did not
/// search for pairs, knows that.
/// @param asked  the options as the user gave them
std::optional<std::string> warning_of_untested_units(const spike_sequence& spikes,
                                                     const episode_table& table,
                                                     const episode_mining_options& asked);

}  // namespace spikeweave::pipeline
