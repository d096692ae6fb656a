#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/low_rank.hpp"
#include "sort/templates/unit_template.hpp"

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

/// The templates at each part of a frame, on each of their channels.
class placed_waveforms {
public:
    placed_waveforms(std::span<const matched_filter> filters, const template_window& window);

    /// Subtracts all spikes that reach into a block of traces.
    /// @param spikes  ascending by frame
    void subtract(std::span<const template_spike> spikes, channel_block& block) const;

private:
    void subtract(const template_spike& spike, channel_block& block) const;

    std::span<const matched_filter> filters_;
    template_window window_;
    std::vector<std::vector<std::vector<float>>>
        values_{};  ///< units and parts x channels x frames
};

}  // namespace spikeweave::templates
