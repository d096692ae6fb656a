// Replaces cuda/ in a build without CUDA.

#include "record/filter/filtered_blocks.hpp"
#include "record/filter/trace_stream.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {

std::unique_ptr<const filtered_blocks> filtered_blocks_on_devices(const block_reader&,
                                                                  const execution&) {
    throw device_error(device_unavailable_reason());
}

std::unique_ptr<scaled_stream> scaled_stream_on_device(const trace_settings&,
                                                       std::span<const recording_channel>,
                                                       const trace_scale&, int) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave::record
