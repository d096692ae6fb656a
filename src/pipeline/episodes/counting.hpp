#pragma once

#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/pipeline/run_options.hpp"

namespace spikeweave::pipeline {

/// The execution for counting: if the options leave the device open, GPUs are used when they are
/// likely to be faster and have the strategy.
execution counting_on(const spike_sequence& spikes, episode_strategy strategy,
                      const run_options& how, execution run);

}  // namespace spikeweave::pipeline
