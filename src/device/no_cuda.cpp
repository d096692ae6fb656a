#include "device/limits.hpp"
#include "synfire/core/device.hpp"
#include "synfire/core/error.hpp"

namespace synfire {

std::vector<device_info> devices() {
    return {};
}

std::string why_no_device() {
    return "this synfire was built without CUDA";
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

}  // namespace synfire
