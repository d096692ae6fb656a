#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/placed_waveforms.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::templates {

/// Sums of each channel and of those around it, weighted by a Gaussian of their distance whose
/// standard deviation is the usual distance of neighbours. Independent noise keeps its size, while
/// a small spike that reaches many channels grows.
class pooled_channels {
public:
    explicit pooled_channels(std::span<const recording_channel> channels);

    channel_block pool(const channel_block& traces) const;

private:
    struct share {
        std::uint32_t channel;
        float weight;
    };
    std::vector<std::vector<share>> shares_{};  // of each channel; their squares add up to 1
};

}  // namespace spikeweave::templates
