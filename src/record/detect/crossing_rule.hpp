#pragma once

#include <vector>

#include "spikeweave/record/detection.hpp"

namespace spikeweave::record {

/// Defines which samples are weak: those whose product with the factor of their channel is above
/// `above`.
struct crossing_rule {
    std::vector<float> by_noise{};  ///< 0 for a channel that is left out
    float above = 0;
    bool both = false;  ///< both signs: the absolute value of the product counts
};
crossing_rule crossings_by(const filtered_recording& traces, const detection_options& options);

/// Returns the basis of the features without its components.
feature_basis feature_space_of(const filtered_recording& traces, const detection_options& options);

}  // namespace spikeweave::record
