#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/filter/band_filter.hpp"
#include "record/filter/trace_recipe.hpp"
#include "spikeweave/record/preprocess.hpp"

namespace spikeweave::record {

/// Frames per block of the grid on which filtered traces are computed.
constexpr std::size_t standard_block_frames = 8192;

/// The filtered frames of a block and of an apron on both sides, computed together. Frames beyond
/// the ends of the recording are 0.
struct trace_block {
    std::uint64_t first = 0;  ///< first frame of the block itself
    std::size_t frames = 0;   ///< frames of the block itself
    std::size_t apron = 0;
    std::size_t channels = 0;
    std::vector<float> values{};  ///< apron, block, apron; channels fastest

    /// Returns a frame by its offset from `first`, from -apron to frames + apron - 1.
    const float* frame(std::int64_t offset) const {
        return values.data() +
               static_cast<std::size_t>(offset + static_cast<std::int64_t>(apron)) * channels;
    }
};

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
