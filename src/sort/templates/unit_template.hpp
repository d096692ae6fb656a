#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/sort/online.hpp"

namespace spikeweave::templates {

/// The frames of a template around the time of its spike.
struct template_window {
    std::int64_t before = 0;
    std::int64_t after = 0;  ///< the last frame, relative to the spike

    std::size_t size() const { return static_cast<std::size_t>(before + after + 1); }
};

/// The mean spike of a unit on the channels that it reaches, in standard deviations of the noise.
struct unit_template {
    std::vector<std::uint32_t> channels{};  ///< ascending; none for a unit without spikes
    std::vector<float> values{};            ///< channels x frames
    std::uint32_t peak_channel = 0;         ///< where the template is largest
    double peak = 0;                        ///< its largest absolute value
    std::uint64_t spikes = 0;               ///< number of spikes averaged

    std::size_t frames() const { return channels.empty() ? 0 : values.size() / channels.size(); }
    std::span<const float> on(std::size_t channel_index) const {
        return std::span{values}.subspan(channel_index * frames(), frames());
    }
};

}  // namespace spikeweave::templates
