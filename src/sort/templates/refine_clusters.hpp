#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/cluster_points.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/templates.hpp"

namespace spikeweave::templates {

/// Spikes of one neuron, as far as features show.
struct spike_cluster {
    std::uint32_t number = 0;             ///< in the table of decisions
    std::vector<std::uint32_t> spikes{};  ///< ascending
};

/// When the spikes of all clusters are.
struct spike_frames {
    std::span<const std::int64_t> of{};  ///< of each spike, ascending
    double rate_hz = 0;
    double recording_frames = 0;
};

/// Splits clusters whose spikes form two groups, then merges clusters whose spikes form one.
/// @param decisions  those that are made are appended
std::vector<spike_cluster> refine_clusters(std::vector<spike_cluster> clusters,
                                           const cluster_points& points, const spike_frames& frames,
                                           const execution& run,
                                           std::vector<cluster_decision>& decisions);

}  // namespace spikeweave::templates
