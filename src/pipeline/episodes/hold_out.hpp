#pragma once

#include "spikeweave/core/execution.hpp"
#include "spikeweave/pipeline/episodes.hpp"

namespace spikeweave::pipeline {

/// Searches in one part of the time, and tests what has a p below alpha there in the rest, so that
/// only few tests are corrected for, of counts that had no part in the choice.
/// @param spikes  the part of the recording that the options choose
/// @throws invalid_argument if nothing would be searched, or nothing held out; as `find_episodes`.
episode_result find_in_divided_time(const spike_sequence& spikes, const episode_options& options,
                                    const execution& run);

}  // namespace spikeweave::pipeline
