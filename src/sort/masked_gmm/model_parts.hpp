#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sort/masked_gmm/cluster_fit.hpp"
#include "sort/masked_gmm/sparse_data.hpp"
#include "spikeweave/sort/sorting_model.hpp"

/// The parts of a model.
struct spikeweave::sorting_model::parts {
    masked_gmm::feature_space space{};
    std::vector<std::uint32_t> units{};
    /// One fit per unit; none is dead.
    std::vector<masked_gmm::cluster_fit> fits{};
    double noise_cost = 0;
    double cost = 0;
    std::uint64_t spikes = 0;
    std::optional<feature_basis> basis{};
};
