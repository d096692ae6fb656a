#pragma once

#include <vector>

#include "sort/masked_gmm/cluster_fit.hpp"

namespace spikeweave::masked_gmm {

/// The rules by which the groups passed to `evaluate` are formed.
inline constexpr group_rules cpu_groups{.gather_cost = 6, .looked_at = 256};

/// Finds the two clusters with the lowest cost for each spike. `fits` are clusters 1, 2, …; 0 is
/// noise.
assignment evaluate(const sparse_data& data, const std::vector<cluster_fit>& fits,
                    double noise_cost, const execution& run);

}  // namespace spikeweave::masked_gmm
