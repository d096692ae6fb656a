#pragma once

#include <cstdint>
#include <optional>

#include "mine/episode/candidates.hpp"
#include "mine/episode/cuda/counters.hpp"

namespace spikeweave::episodes {

/// Counts one episode in a single sweep over the spikes of its units, a slice of time after the
/// other, without survivor lists in the device's memory.
///
/// Nothing where that cannot be: the trains are too unlike in size, the delays too long beside the
/// distances of spikes, or survivors overlap in long runs. `latest_start_worker` counts all.
std::optional<count_result> count_by_time_slices(const device_problem& problem,
                                                 const candidate_set& one_candidate);

}  // namespace spikeweave::episodes
