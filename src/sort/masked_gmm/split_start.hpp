#pragma once

#include <cstdint>
#include <vector>

#include "sort/masked_gmm/sparse_data.hpp"
#include "sort/masked_gmm/steps.hpp"

namespace spikeweave::masked_gmm {

/// The halves with which splits start: in each cluster, the spikes on either side of its mean along
/// its first principal direction, with features measured in SDs of the noise.
///
/// They are computed from the features themselves, so that all strategies start alike.
class split_starts {
public:
    /// @param features  must outlive this object
    split_starts(const spike_features& features, feature_space space);

    /// @return the side of each spike (0, 1)
    std::vector<std::uint8_t> halves(const partition& now, const execution& run) const;

private:
    const spike_features* features_;
    feature_space space_;
};

}  // namespace spikeweave::masked_gmm
