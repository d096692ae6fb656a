#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// The rules by which masks are computed if the detector supplied none. All rise from 0 at `low` to
/// 1 at `high` SDs.
enum class mask_rule : std::uint8_t {
    mad,   ///< a channel's largest; SD is the median absolute deviation / 0.6745, of noise
    seed,  ///< Cai et al. 2020: each feature by itself; SD over all spikes, which these widen
    all,   ///< 1 everywhere: plain Gaussian mixtures
};
template <>
SPIKEWEAVE_API enum_table<mask_rule> enum_names<mask_rule>();

struct mask_options {
    mask_rule rule = mask_rule::mad;
    /// Number of principal components per channel, which are adjacent.
    std::size_t features_per_channel = 3;
    double low = 2.0;
    double high = 4.5;
};

struct mask_result {
    spike_masks masks{};
    /// Spikes below `low` everywhere. `mad` unmasks the largest channel of each; with `seed` they
    /// stay empty and do not affect the clustering.
    std::size_t without_mask = 0;
    /// Features without deviation: masked everywhere.
    std::size_t constant_features = 0;
};

/// @param values  spikes x feature_count, finite; NaN is a missing feature, which is masked under
/// every rule
/// @throws invalid_argument if feature_count is not a multiple of `features_per_channel`, or unless
/// 0 <= low < high; cancelled.
///
/// Rossant et al. 2016, doi:10.1038/nn.4268 (thresholds of 2 and 4.5 SD of the noise).
SPIKEWEAVE_API mask_result make_masks(std::span<const double> values, std::size_t feature_count,
                                      const mask_options& options = {}, const execution& run = {});

}  // namespace spikeweave
