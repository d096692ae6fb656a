#pragma once

#include <vector>

#include "assess/episodes/jitter_null.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::assess {

/// Tests each episode of the table and returns one verdict for each. An episode of three units or
/// more gets no smaller p than any of its steps. An episode of a single unit is not tested: p = 1.
/// @throws invalid_argument if the jitter window is shorter than 1 ms; cancelled.
std::vector<jitter_null::verdict> test_by_jitter(const spike_sequence& spikes,
                                                 const episode_table& table,
                                                 const significance_options& options,
                                                 const execution& run);

}  // namespace spikeweave::assess
