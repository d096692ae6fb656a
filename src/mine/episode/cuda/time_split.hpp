#pragma once

#include <cstddef>
#include <span>

#include "mine/episode/cuda/counters.hpp"

namespace spikeweave::episodes {

/// Whether the spikes, and survivor lists beside them, or their time span are too large for that
/// device at once.
bool needs_stretches(const device_problem& problem, bool with_lists = true);

/// Whether a count takes its time in stretches, one or more for each device, instead of its
/// candidates: because the spikes or their time span are too large for one device at once, or
/// because there are too few candidates to share and many spikes.
bool better_by_time(std::span<const device_problem> devices, const candidate_set& candidates);

/// Counts by latest start in at least `stretches` stretches of time, which the devices take in
/// turn, each with the spikes before it that its occurrences may begin at.
///
/// What a stretch adds depends on where the last occurrence before it ended, but only on which
/// survivor comes next: the stretch says what follows from each that can, and these sayings are
/// joined in order. Exact, for stretches of any length.
/// @throws invalid_argument if an occurrence may be so long that no stretch can hold it.
count_result count_over_time(std::span<const device_problem> devices,
                             const candidate_set& candidates, std::size_t stretches);

}  // namespace spikeweave::episodes
