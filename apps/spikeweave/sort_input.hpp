#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sort_options.hpp"
#include "spikeweave/spikeweave.hpp"

namespace spikeweave::cli {

/// What sorting needs of its input, whichever kind it is.
struct sort_input {
    spike_features features{};
    /// Clusters to begin with; empty: by masks.
    std::vector<std::uint32_t> start{};
    /// What the file calls those of `start` from 1 on; none: they are not of the sorted file.
    std::vector<std::int64_t> start_numbers{};
    /// Labels of `start` to find units in; none: in all spikes.
    std::vector<std::uint32_t> only{};
    /// What the spikes were detected in.
    std::optional<recording> from{};
    /// What their features stand for.
    std::optional<feature_basis> basis{};
    /// Whose units spikes are assigned to.
    std::optional<sorting_model> model{};
};

/// Reads features, or detects the spikes of a recording. Notes in `options` which it was and what
/// was chosen, and in `report` what is known of the spikes beside their features.
sort_input read_sort_input(sort_options& options, sorting_report& report, const execution& run);

}  // namespace spikeweave::cli
