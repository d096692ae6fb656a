#pragma once

#include <cstdint>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/plan.hpp"

namespace spikeweave::episodes {

/// Counts with this much memory, whatever the device has.
count_result count_by_occurrences_within(const device_problem&, const candidate_set&,
                                         const occurrence_capacity&);

/// Messages are made in a file that nvcc does not compile. @throws device_error.
[[noreturn]] void throw_occurrence_capacity_exceeded(int ordinal, std::uint64_t most);

}  // namespace spikeweave::episodes
