#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/mine/bursts.hpp"

/// The bursts of the network, by those of its units.
namespace spikeweave::bursts {

/// The times in which so many units or more are in a burst. Those of an epoch that are nearer than
/// `min_separation` are one, and none is shorter than `min_duration`.
/// @param bursts  by their beginning; each gets the network burst that it overlaps
std::vector<network_burst> network_bursts(const spike_sequence& spikes,
                                          std::vector<unit_burst>& bursts, std::uint64_t units,
                                          const burst_options& options);

}  // namespace spikeweave::bursts
