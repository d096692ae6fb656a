#pragma once

#include <cstdint>
#include <vector>

#include "sort/masked_gmm/sparse_data.hpp"
#include "sort/masked_gmm/steps.hpp"

namespace spikeweave::masked_gmm {

/// The halves with which splits begin: in each cluster, the spikes on either side of its mean along
/// the direction in which they differ most, features being measured in SDs of the noise.
///
/// Works on the features themselves, so that all strategies begin alike.
class split_starts {
public:
    /// @param features  stays the caller's
    split_starts(const spike_features& features, feature_space space);

    /// @return of each spike its side (0, 1)
    std::vector<std::uint8_t> halves(const partition& now, const execution& run) const;

private:
    const spike_features* features_;
    feature_space space_;
};

}  // namespace spikeweave::masked_gmm
