#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/channel_block.hpp"
#include "sort/templates/low_rank.hpp"
#include "sort/templates/unit_template.hpp"

namespace spikeweave::templates {

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
