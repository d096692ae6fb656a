#pragma once

#include <vector>

#include "sort/masked_gmm/cluster_fit.hpp"

namespace synfire::masked_gmm {

/// The two clusters that suit each spike best. `fits` are clusters 1, 2, …; 0 is noise.
assignment evaluate(const sparse_data& data, const std::vector<cluster_fit>& fits,
                    double noise_cost, const execution& run);

}  // namespace synfire::masked_gmm
