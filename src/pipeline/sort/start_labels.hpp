#pragma once

#include <cstdint>
#include <vector>

#include "spikeweave/pipeline/sort.hpp"

namespace spikeweave::pipeline {

/// The clusters that a search begins with, as labels of the library.
struct start_labels {
    /// The label of each spike; empty: the search starts by masks.
    std::vector<std::uint32_t> labels{};
    /// Labels to find units in; empty: in all spikes.
    std::vector<std::uint32_t> only{};
};

/// Resolves `start` and `only_clusters` for the spikes of `from`, whose clusters it uses if the
/// options request it.
/// @throws io_error; invalid_argument if clusters are missing.
start_labels read_start(feature_file& from, const sort_options& options, const execution& run);

}  // namespace spikeweave::pipeline
