#pragma once

#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/blocks.hpp"
#include "spikeweave/pipeline/run_options.hpp"
#include "spikeweave/spikes/spike_blocks.hpp"

namespace spikeweave {

/// All options of a search that holds only a part of the recording at a time: those of the time to
/// be analysed, of tests and of work on several GPUs need the whole recording.
struct episodes_in_blocks_options {
    episode_mining_options mining{.delays = default_delays()};
    run_options run{};
};

SPIKEWEAVE_API option_list describe(episodes_in_blocks_options& options);

/// The frequent episodes of a recording that is larger than memory.
struct episodes_in_blocks_result {
    episodes_in_blocks found{};
    /// The options as they were resolved.
    episodes_in_blocks_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// Mines frequent episodes block by block, with the same counts as `find_episodes`. Episodes are
/// not tested, and there is no circuit, because tests need all spikes of a unit.
/// @param run  progress and cancellation; its threads and devices are ignored, because those of the
/// options are used
/// @throws invalid_argument if an option is out of range or needs the whole recording: GPUs, or
/// another strategy than `latest_start`; io_error of the recording; cancelled.
SPIKEWEAVE_API episodes_in_blocks_result
find_episodes_in_blocks(spike_blocks& recording, const episodes_in_blocks_options& options = {},
                        const execution& run = {});

}  // namespace spikeweave
