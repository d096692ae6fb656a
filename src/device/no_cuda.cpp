#include "device/limits.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

std::vector<device_info> devices() {
    return {};
}

std::string why_no_device() {
    return "this spikeweave was built without CUDA";
}

bool device::built() {
    return false;
}

device::device_limits device::limits_of(int) {
    throw device_error(why_no_device());
}

std::uint64_t device::total_bytes_of(int) {
    throw device_error(why_no_device());
}

}  // namespace spikeweave
