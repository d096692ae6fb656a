#pragma once

#include <vector>

#include "sort/masked_gmm/cluster_fit.hpp"

namespace spikeweave::masked_gmm {

/// Of the data that `evaluate` is for.
inline constexpr group_rules cpu_groups{.gather_cost = 6, .looked_at = 256};

/// The two clusters that suit each spike best. `fits` are clusters 1, 2, …; 0 is noise.
assignment evaluate(const sparse_data& data, const std::vector<cluster_fit>& fits,
                    double noise_cost, const execution& run);

}  // namespace spikeweave::masked_gmm
