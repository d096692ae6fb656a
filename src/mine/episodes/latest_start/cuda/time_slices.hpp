#pragma once

#include <cstdint>
#include <optional>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/search/candidates.hpp"

namespace spikeweave::episodes {

/// Counts one episode in a single sweep over the spikes of its units, one slice of time after
/// another, without survivor lists in device memory.
///
/// Returns nothing if that is not possible: the trains differ too much in size, the delays are too
/// long compared with the distances of spikes, or survivors overlap in long runs.
/// `latest_start_worker` can count every episode.
std::optional<count_result> count_by_time_slices(const device_problem& problem,
                                                 const candidate_set& one_candidate);

}  // namespace spikeweave::episodes
