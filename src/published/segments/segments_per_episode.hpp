#pragma once

#include <cstdint>

#include "mine/episodes/devices/counters.hpp"

namespace spikeweave::episodes {

/// Counts each candidate in this many segments of time, or in fewer if segments would be shorter
/// than an occurrence can be. The CPU's strategy `segments` uses 256.
count_result count_in_segments(const device_problem&, const candidate_set&, std::uint32_t segments);

}  // namespace spikeweave::episodes
