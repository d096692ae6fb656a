#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sort/templates/cluster_points.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/templates.hpp"

namespace spikeweave::templates {

/// Spikes of one neuron, as far as features tell.
struct spike_cluster {
    std::uint32_t number = 0;             ///< in the table of decisions
    std::vector<std::uint32_t> spikes{};  ///< ascending
};

/// Splits clusters whose spikes form two groups, then merges clusters whose spikes form one.
/// @param decisions  those that are made are appended
std::vector<spike_cluster> refine_clusters(std::vector<spike_cluster> clusters,
                                           const cluster_points& points, const execution& run,
                                           std::vector<cluster_decision>& decisions);

}  // namespace spikeweave::templates
