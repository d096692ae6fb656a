#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/record/preprocess.hpp"

namespace spikeweave {

namespace record {
class filtered_blocks;
}

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

/// Filtered traces in blocks of 8,192 frames, each with frames before and after it. May be used by
/// several threads at once.
class SPIKEWEAVE_API trace_blocks {
public:
    /// @param apron  frames on both sides of each block
    explicit trace_blocks(const filtered_recording& traces, std::size_t apron = 0);

    const recording& source() const;
    std::size_t apron() const;
    std::size_t block_frames() const;
    std::size_t block_count() const;
    /// @throws io_error
    trace_block read(std::size_t block) const;

private:
    std::shared_ptr<const record::block_reader> reader_;
};

/// The conversion of filtered traces to integers.
struct trace_scale {
    std::vector<float> factors{};  ///< of each channel
    float limit = 32767;           ///< largest absolute value
};

/// The same blocks, each channel times a factor, limited, and rounded to the nearest integer. May
/// be used by several threads at once.
class SPIKEWEAVE_API scaled_trace_blocks {
public:
    /// @param apron  frames on both sides of each block
    /// @param run    traces are computed on its devices if it has any and the tissue does not move,
    /// with the same result
    /// @throws invalid_argument unless there is a factor for each channel; device_error.
    scaled_trace_blocks(const filtered_recording& traces, std::size_t apron, trace_scale scale,
                        const execution& run = {});

    /// Returns channels x (apron, block, apron). @throws io_error; device_error; cancelled.
    std::vector<std::int16_t> read(std::size_t block) const;

private:
    trace_scale scale_;
    std::shared_ptr<const record::filtered_blocks> blocks_;
};

}  // namespace spikeweave
