#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave::templates {

/// Spikes as points: their features on some channels, in standard deviations of the noise.
class cluster_points {
public:
    cluster_points(const spike_features& features, std::size_t features_per_channel);

    /// @return spikes x features
    Eigen::MatrixXd of(std::span<const std::uint32_t> spikes,
                       std::span<const std::uint32_t> channels) const;
    /// The channels on which the masks of the spikes are largest, at most `most`, the largest
    /// first.
    std::vector<std::uint32_t> largest_channels(std::span<const std::uint32_t> spikes,
                                                std::size_t most) const;
    /// The channel on which a spike differs most from noise.
    std::uint32_t largest_channel(std::uint32_t spike) const;

private:
    const spike_features& features_;
    std::size_t width_;
    std::vector<double> scale_{};  ///< inverse of the noise of each feature
};

}  // namespace spikeweave::templates
