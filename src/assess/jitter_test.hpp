#pragma once

#include <vector>

#include "assess/jitter_null.hpp"
#include "spikeweave/assess/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// One verdict an episode of the table. Of three units and more an episode has no smaller p than
/// each of its steps. A single unit is no test: p = 1.
/// @throws invalid_argument if the jitter window is shorter than 1 ms; cancelled.
std::vector<jitter_null::verdict> test_by_jitter(const spike_sequence& spikes,
                                                 const episode_table& table,
                                                 const significance_options& options,
                                                 const execution& run);

}  // namespace spikeweave
