#pragma once

#include <optional>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"

namespace spikeweave {

/// The resources of every analysis.
struct run_options {
    int threads = 0;  ///< 0 uses every core that this process may use
    /// Ordinals of the GPUs; empty means the CPU. If not set, the analysis chooses.
    std::optional<std::vector<int>> devices{};
};

/// @param device_help  the use of the device in this analysis, and the automatic choice
SPIKEWEAVE_API option_list describe(run_options& options, const std::string& device_help);
/// Describes these options for analyses that run on the CPU only.
SPIKEWEAVE_API option_list describe_threads(run_options& options);

}  // namespace spikeweave
