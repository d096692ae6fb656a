#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "record/filter/block_reader.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/trace_blocks.hpp"

namespace spikeweave::record {

/// Filtered blocks that are computed on the CPU or on devices, with the same result. May be used by
/// several threads. Reading throws io_error, device_error or cancelled.
class filtered_blocks {
public:
    filtered_blocks() = default;
    virtual ~filtered_blocks() = default;
    filtered_blocks(const filtered_blocks&) = delete;
    filtered_blocks& operator=(const filtered_blocks&) = delete;

    virtual trace_block read(std::size_t block) const = 0;
    /// Returns channels x (apron, block, apron), as `scaled_trace_blocks` does.
    virtual std::vector<std::int16_t> read_scaled(std::size_t block,
                                                  const trace_scale& scale) const = 0;
};

/// They are computed on the devices of `run` if it has any and the tissue does not move.
std::unique_ptr<const filtered_blocks> filtered_blocks_of(const block_reader& blocks,
                                                          const execution& run);

std::unique_ptr<const filtered_blocks> filtered_blocks_on_devices(const block_reader& blocks,
                                                                  const execution& run);

}  // namespace spikeweave::record
