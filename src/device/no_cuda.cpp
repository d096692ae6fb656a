#include "device/limits.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

std::vector<device_info> devices() {
    return {};
}

std::string device_unavailable_reason() {
    return "this spikeweave was built without CUDA";
}

bool device::built() {
    return false;
}

device::device_limits device::limits_of(int) {
    throw device_error(device_unavailable_reason());
}

std::uint64_t device::total_bytes_of(int) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave
