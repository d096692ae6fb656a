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

/// The number of true occurrences that the same rotation removes on average, if each spike of the
/// first unit has one: the sum over these spikes of 1 - m. m, at most 1, is the mean count in a
/// recording in which the first unit fires as it was recorded, and the other units only once, after
/// this spike, with each delay in the middle of its interval; spikes are left out behind which that
/// does not fit into the time observed. So if a spike of the first unit has an occurrence with a
/// small probability, by whatever connection, the count is larger than its mean by about this
/// number times the probability. A share of the number of spikes would be wrong, because rotation
/// removes fewer where the first unit fires in bursts: another spike of the burst takes its place.
/// @returns and throws as `expected_by_jitter`
SPIKEWEAVE_API std::vector<std::vector<double>> removed_by_jitter(const spike_sequence& spikes,
                                                                  std::span<const episode> episodes,
                                                                  duration window,
                                                                  tie_rule ties = tie_rule::time,
                                                                  const execution& run = {});

}  // namespace spikeweave
