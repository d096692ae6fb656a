#pragma once

#include <cstdint>

#include "mine/episodes/devices/resident_stream.hpp"

namespace spikeweave::episodes {

/// Restores the full time of a spike, in microseconds since the first spike, from its low 32 bits.
/// @param era_begin  index of the first spike of each of `eras` eras, ascending
__device__ inline std::int64_t whole_time(std::uint32_t low, const std::uint32_t* era_begin,
                                          std::uint32_t eras, std::uint32_t spike) {
    std::uint32_t era = 0;
    while (era + 1 < eras && era_begin[era + 1] <= spike) ++era;
    return static_cast<std::int64_t>(era) << 32 | low;
}

__device__ inline std::int64_t time_of(const resident_events& events, std::uint32_t spike) {
    return whole_time(events.time_low[spike], events.era_begin, events.eras, spike);
}

/// @param spike  index of a spike of `unit`, among all trains
__device__ inline std::int64_t time_of(const resident_trains& trains, std::uint32_t unit,
                                       std::uint32_t spike) {
    return whole_time(trains.time_low[spike], trains.era_begin + unit * (trains.eras + 1),
                      trains.eras, spike);
}

}  // namespace spikeweave::episodes
