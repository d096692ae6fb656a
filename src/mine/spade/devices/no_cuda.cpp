// Replaces cuda/ in a build without CUDA.

#include "mine/spade/devices/maxima_device.hpp"
#include "mine/spade/devices/pattern_device.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::spade {

std::unique_ptr<maxima_device> open_maxima_device(int, const maxima_rules&) {
    throw device_error(device_unavailable_reason());
}

std::unique_ptr<pattern_device> open_pattern_device(int, const pattern_recording&) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave::spade
