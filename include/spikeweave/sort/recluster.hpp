#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct reclustered_spikes {
    /// Of each spike. Those of other clusters have their labels still; those that were clustered
    /// anew are noise (0) or of a unit from `first_new` on.
    std::vector<std::uint32_t> labels{};
    /// One more than the largest label before: no unit that is gone lends its number.
    std::uint32_t first_new = 1;
    /// Ascending: the spikes that were clustered anew.
    std::vector<std::uint32_t> spikes{};
    /// How; its labels and units are of `spikes` alone.
    clustered_spikes search{};
};

/// Finds the units among the spikes of some clusters anew, as `sort_spikes` does, and leaves all
/// others alone. Features are scaled as all spikes are, and noise is that of all spikes: the few
/// that are looked at would take their own variance for noise's. Weights and penalties count those
/// few. They start by their masks.
///
/// @param labels  of each spike, in any numbers; 0 is noise
/// @param only    labels to cluster anew, 0 among them or not
/// @throws invalid_argument for labels of another number of spikes, no or unknown clusters, or
/// with `options.start`; else as `sort_spikes`.
reclustered_spikes recluster(const spike_features& features, std::vector<std::uint32_t> labels,
                             std::span<const std::uint32_t> only,
                             const masked_gmm_options& options = {}, const execution& run = {});

}  // namespace spikeweave
