#pragma once

#include <cstdint>
#include <span>

#include "device/cuda.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

/// If there are no more units than this, 16 bits are used for each.
constexpr std::size_t most_narrow_units = std::size_t{1} << 16;

/// Device memory for all spikes. One of the two pointers for units is null.
struct event_buffers {
    int ordinal;
    const device::stream* on;
    std::uint32_t* time_low;  ///< microseconds since the origin, the low 32 bits
    std::uint16_t* narrow_unit;
    std::uint32_t* unit;
};

/// Converts spikes on the threads of `run`, once, and copies them to every device while the next
/// ones are converted. Returns when all have arrived. All elements of `to` must use the same width
/// for units.
/// @param origin_us  the time that becomes 0
/// @throws device_error, cancelled.
void upload_events(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
                   std::int64_t origin_us, std::span<const event_buffers> to, const execution& run);

}  // namespace spikeweave::episodes
