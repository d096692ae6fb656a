#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/search/candidates.hpp"

namespace spikeweave::episodes {

/// Whether the spikes with their survivor lists, or their time span, are too large for this device
/// to process at once.
bool needs_segments(const device_problem& problem, bool with_lists = true);

/// Whether a count is split by time, into one or more segments for each device, instead of by
/// candidates. This is done if the spikes or their time span are too large for one device at once,
/// or if there are too few candidates to share and many spikes.
bool better_by_time(std::span<const device_problem> devices, const candidate_set& candidates);

/// Counts by latest start in at least `segments` segments of time, which the devices take in turn.
/// Each segment includes the earlier spikes at which its occurrences may begin.
///
/// The count of a segment depends on the end of the last occurrence before it, but only through the
/// next survivor. So each segment is counted from every survivor that can be the next, and these
/// results are joined in order. This is exact for segments of any length.
/// @throws invalid_argument if an occurrence may be too long for any segment.
count_result count_over_time(std::span<const device_problem> devices,
                             const candidate_set& candidates, std::size_t segments);

/// Counts one episode in a single sweep over the spikes of its units, one slice of time after
/// another, without survivor lists in device memory.
///
/// Returns nothing if that is not possible: the trains differ too much in size, the delays are too
/// long compared with the distances of spikes, or survivors overlap in long runs.
/// `latest_start_worker` can count every episode.
std::optional<count_result> count_by_time_slices(const device_problem& problem,
                                                 const candidate_set& one_candidate);

}  // namespace spikeweave::episodes
