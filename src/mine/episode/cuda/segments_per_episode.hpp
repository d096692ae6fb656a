#pragma once

#include <cstdint>

#include "mine/episode/cuda/counters.hpp"

namespace spikeweave::episodes {

/// Counts in this many segments of each candidate's time, or in as many as are no shorter than an
/// occurrence can be; of the CPU's strategy `segments` there are 256.
count_result count_in_segments(const device_problem&, const candidate_set&, std::uint32_t segments);

}  // namespace spikeweave::episodes
