#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct recluster_result {
    /// Label of each spike. Spikes of other clusters keep their labels; re-sorted spikes are noise
    /// (0) or belong to a unit from `first_new` on.
    std::vector<std::uint32_t> labels{};
    /// One more than the largest old label: labels of removed units are not reused.
    std::uint32_t first_new = 1;
    /// The re-sorted spikes, ascending.
    std::vector<std::uint32_t> spikes{};
    /// Details of the search; its labels and units refer only to `spikes`.
    clustering_result search{};
};

/// Re-sorts the spikes of some clusters, as `sort_spikes` does, and leaves all others unchanged.
/// Scaling and noise are those of all spikes, because the variance of the selected spikes alone
/// would be mistaken for that of the noise. Weights and penalties count only the selected spikes.
/// The search starts from their masks.
///
/// @param labels the label of each spike, any numbers; 0 is noise
/// @param only    labels to re-sort, with or without 0
/// @throws invalid_argument if the number of labels differs from that of spikes, if clusters are
/// missing or unknown, or with `options.start`; else as `sort_spikes`.
SPIKEWEAVE_API recluster_result recluster(const spike_features& features,
                                          std::vector<std::uint32_t> labels,
                                          std::span<const std::uint32_t> only,
                                          const masked_gmm_options& options = {},
                                          const execution& run = {});

}  // namespace spikeweave
