#pragma once

#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The mean counts of episodes under the null hypothesis of the test `jitter`, which preserves the
/// number of spikes of every unit in every cell: how often the rates alone let them occur. For each
/// episode, there is one mean for each of its units, whose spikes are rotated while the others
/// stay.
/// @param window  width of the cells, as `significance_options::jitter_window`
/// @throws invalid_argument if an episode has one unit or an unknown one, or the window is below
/// 1 ms; cancelled.
SPIKEWEAVE_API std::vector<std::vector<double>> expected_by_jitter(
    const spike_sequence& spikes, std::span<const episode> episodes, duration window,
    tie_rule ties = tie_rule::time, const execution& run = {});

}  // namespace spikeweave
