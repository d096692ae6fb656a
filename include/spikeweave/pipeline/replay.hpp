#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/replay.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/pipeline/run_options.hpp"

/// The whole analysis of replay as one call, from spikes and chains. The command `spikeweave
/// replay` and Python's `spikeweave.replay` make the same call.
namespace spikeweave {

struct replay_analysis_options {
    epoch_options time{};  ///< the part of the recording that is analysed
    /// Events in which chains may occur; empty: `find_population_events` finds them.
    std::vector<time_span> events{};
    population_event_options population_events{};
    replay_options test{};
    run_options run{};  ///< only threads; devices are ignored
};
SPIKEWEAVE_API option_list describe(replay_analysis_options& options);

struct replay_result {
    /// The spikes that were analysed, if the options choose a part of the recording.
    std::optional<spike_sequence> chosen{};
    std::vector<time_span> events{};  ///< those that were scored
    replay_scores scores{};
    replay_analysis_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// Looks for chains in the events of a recording. Events that are not within the part that is
/// analysed are left out with a warning.
/// @param run  progress and cancellation; its threads are ignored, because those of the options are
/// used
/// @throws invalid_argument as `choose_time`, `find_population_events` and `test_replay`, and if
/// events are empty, overlap or are out of order; cancelled.
SPIKEWEAVE_API replay_result find_replay(const spike_sequence& recording,
                                         std::span<const episode> chains,
                                         const replay_analysis_options& options = {},
                                         const execution& run = {});

}  // namespace spikeweave
