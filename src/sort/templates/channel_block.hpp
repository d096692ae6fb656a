#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spikeweave::templates {

/// Traces of a block and of an apron on both sides, in standard deviations of the noise, channel by
/// channel.
struct channel_block {
    std::uint64_t first = 0;  ///< first frame of the block itself
    std::size_t frames = 0;   ///< frames of the block itself
    std::size_t apron = 0;
    std::size_t channels = 0;
    std::vector<float> values{};  ///< channels x (apron, block, apron)

    std::size_t width() const { return frames + 2 * apron; }
    std::span<float> on(std::size_t channel) {
        return std::span{values}.subspan(channel * width(), width());
    }
    std::span<const float> on(std::size_t channel) const {
        return std::span{values}.subspan(channel * width(), width());
    }
};

}  // namespace spikeweave::templates
