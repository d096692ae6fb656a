// Replaces cuda/ in a build without CUDA.

#include "sort/templates/filter_bank.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::templates {

std::unique_ptr<const filter_bank> filter_bank_on_devices(std::span<const matched_filter>,
                                                          std::size_t, const execution&) {
    throw device_error(device_unavailable_reason());
}

std::unique_ptr<score_stream> score_stream_on_device(std::span<const matched_filter>, std::size_t,
                                                     int) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave::templates
