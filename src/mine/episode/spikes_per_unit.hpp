#pragma once

#include <cstdint>
#include <vector>

#include "synfire/core/execution.hpp"
#include "synfire/spikes/spike_sequence.hpp"

namespace synfire::episodes {

/// How many spikes each unit has, counted on the threads of `run`.
std::vector<std::uint64_t> spikes_per_unit(const spike_sequence& spikes, const execution& run);

}  // namespace synfire::episodes
