#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/assemblies.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/pipeline/run_options.hpp"

/// The search for cell assemblies as one call. The command `spikeweave assemblies` and Python's
/// `spikeweave.assemblies` make the same call.
namespace spikeweave {

struct assembly_analysis_options {
    epoch_options time{};  ///< the part of the recording that is analysed
    assembly_options search{};
    run_options run{};  ///< only threads; devices are ignored
};
SPIKEWEAVE_API option_list describe(assembly_analysis_options& options);

struct assembly_result {
    /// The spikes that were analysed, if the options choose a part of the recording.
    std::optional<spike_sequence> chosen{};
    mined_assemblies found{};
    assembly_analysis_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// Finds the cell assemblies of a recording, or of a part of it.
/// @param run  progress and cancellation; its threads are ignored, because those of the options are
/// used
/// @throws invalid_argument as `choose_time` and `mine_assemblies`; cancelled.
SPIKEWEAVE_API assembly_result find_assemblies(const spike_sequence& recording,
                                               const assembly_analysis_options& options = {},
                                               const execution& run = {});

}  // namespace spikeweave
