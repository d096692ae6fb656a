#pragma once

#include <cstddef>
#include <memory>

#include "record/filter/band_filter.hpp"
#include "record/filter/trace_recipe.hpp"
#include "spikeweave/record/preprocess.hpp"
#include "spikeweave/record/trace_blocks.hpp"

namespace spikeweave::record {

/// Frames per block of the grid on which filtered traces are computed.
constexpr std::size_t standard_block_frames = 8192;

/// Computes filtered blocks; may be used by several threads.
class block_reader {
public:
    /// @param apron        frames on both sides of each block
    /// @param block_frames tests use other values to show that the size does not matter
    explicit block_reader(const filtered_recording& traces, std::size_t apron = 0,
                          std::size_t block_frames = standard_block_frames);

    const recording& source() const;
    const trace_recipe& recipe() const;
    std::size_t apron() const { return apron_; }
    std::size_t block_count() const;
    std::size_t block_frames() const { return block_frames_; }
    trace_block read(std::size_t block) const;

private:
    std::shared_ptr<const filtered_recording::parts> parts_;
    std::size_t apron_;
    std::size_t block_frames_;
};

}  // namespace spikeweave::record
