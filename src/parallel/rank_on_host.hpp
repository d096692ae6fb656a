#pragma once

#include <vector>

#include "spikeweave/core/execution.hpp"

namespace spikeweave::parallel {

/// The number of this process among those of the launcher on the same host, from 0; 0 without a
/// launcher, or if it does not say.
int rank_on_host();

/// All of these devices, or the one of this rank if several ranks share the work: each takes one,
/// by its place among the ranks of its host.
std::vector<int> devices_of_this_rank(const std::vector<int>& all, const execution& run);

}  // namespace spikeweave::parallel
