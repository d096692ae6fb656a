#pragma once

#include <cstdint>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

/// Counts the spikes of each unit, on the threads of `run`.
std::vector<std::uint64_t> spikes_per_unit(const spike_sequence& spikes, const execution& run);

}  // namespace spikeweave::episodes
