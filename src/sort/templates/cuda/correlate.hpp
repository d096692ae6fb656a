#pragma once

#include <cstdint>

#include "device/cuda.hpp"

namespace spikeweave::templates {

/// A filter in the memory of a device.
struct placed_filter {
    std::uint32_t channels_at;  ///< its first channel in `channel_numbers`
    std::uint32_t channels;
    std::uint32_t spatial_at;   ///< ranks x channels from here
    std::uint32_t temporal_at;  ///< ranks x frames from here
    std::uint32_t ranks;
    std::uint32_t frames;
};

struct correlation_problem {
    const placed_filter* filters;
    std::uint32_t filter_count;
    const std::uint32_t* channel_numbers;
    const std::int16_t* spatial;
    const std::int16_t* temporal;
    const std::int16_t* traces;  ///< channels x frames
    std::uint32_t frames;
    std::uint32_t before;   ///< frames of a filter before its spike
    std::uint32_t longest;  ///< frames of the longest filter
};

/// Sets filters x frames to the correlation of each frame with each filter, as `correlate` of
/// matching.hpp has it. `scores` must be 0 where a filter goes beyond the traces.
void correlate_all(const correlation_problem& problem, std::int32_t* scores,
                   const device::stream& on);

}  // namespace spikeweave::templates
