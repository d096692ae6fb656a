#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/bursts.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/pipeline/run_options.hpp"

/// The detection of bursts as one call. The command `spikeweave bursts` and Python's
/// `spikeweave.bursts` make the same call.
namespace spikeweave {

struct burst_analysis_options {
    epoch_options time{};  ///< the part of the recording that is analysed
    burst_options search{};
    run_options run{};  ///< only threads; devices are ignored
};
SPIKEWEAVE_API option_list describe(burst_analysis_options& options);

struct burst_result {
    /// The spikes that were analysed, if the options choose a part of the recording.
    std::optional<spike_sequence> chosen{};
    mined_bursts found{};
    burst_analysis_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// Finds the bursts of the units and of the network in a recording, or in a part of it. Warns of
/// units with bursts whose intervals vary hardly more than those of random spikes.
/// @param run  progress and cancellation; its threads are ignored, because those of the options are
/// used
/// @throws invalid_argument as `choose_time` and `mine_bursts`; cancelled.
SPIKEWEAVE_API burst_result find_bursts(const spike_sequence& recording,
                                        const burst_analysis_options& options = {},
                                        const execution& run = {});

}  // namespace spikeweave
