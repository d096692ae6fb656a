#pragma once

#include "record/filter/block_reader.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave::record {

/// `detect_spikes` with blocks of another size.
detection_result detect_in_blocks(const filtered_recording& traces,
                                  const detection_options& options, std::size_t block_frames,
                                  const execution& run);

}  // namespace spikeweave::record
