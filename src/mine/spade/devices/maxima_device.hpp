#pragma once

#include <memory>
#include <stop_token>

#include "mine/spade/devices/maxima_input.hpp"

namespace spikeweave::spade {

/// A device that searches batches of recordings, one after another.
class maxima_device {
public:
    maxima_device() = default;
    virtual ~maxima_device() = default;
    maxima_device(const maxima_device&) = delete;
    maxima_device& operator=(const maxima_device&) = delete;

    /// The number of recordings of this shape that the device should search at once.
    /// @throws device_error if its memory is too small for one.
    virtual std::uint32_t most_recordings(const maxima_shape& shape) = 0;
    /// Starts the search of a batch.
    virtual void begin(const maxima_input& batch) = 0;
    /// Waits for its result. @throws cancelled
    virtual maxima_output end(const std::stop_token& stop) = 0;
};

/// @throws device_error if there is no such device.
std::unique_ptr<maxima_device> open_maxima_device(int ordinal, const maxima_rules& rules);

}  // namespace spikeweave::spade
