#pragma once

#include <cstdint>
#include <span>

#include "device/cuda.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

/// Units go in 16 bits when there are no more than this.
constexpr std::size_t most_narrow_units = std::size_t{1} << 16;

/// Room for all spikes on one device. One of the two for units is null.
struct event_room {
    int ordinal;
    const device::stream* on;
    std::uint32_t* time_low;  ///< microseconds since the first spike, the low 32 bits
    std::uint16_t* narrow_unit;
    std::uint32_t* unit;
};

/// Converts spikes on the threads of `run`, once, and copies them to every device while the next
/// ones are converted. Returns when all have arrived. `to` agree in which units they take.
/// @throws device_error, cancelled.
void upload_events(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
                   std::span<const event_room> to, const execution& run);

}  // namespace spikeweave::episodes
