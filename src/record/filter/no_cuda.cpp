// Replaces cuda/ in a build without CUDA.

#include "record/filter/filtered_blocks.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {

std::unique_ptr<const filtered_blocks> filtered_blocks_on_devices(const block_reader&,
                                                                  const execution&) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave::record
