#pragma once

#include <vector>

#include "spikeweave/assess/circuit.hpp"
#include "spikeweave/assess/episode_surrogates.hpp"
#include "spikeweave/assess/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// What the counts of a table say.
struct episode_findings {
    /// One element an episode of the table.
    std::vector<assessed_episode> assessed{};
    /// Empty, or one element an episode of the table.
    std::vector<surrogate_assessment> surrogates{};
    circuit found{};
};

/// Judges the episodes of a table by independent Poisson units, and by surrogates when these are
/// asked for, which then decide on the circuit. Its alpha is that of `significance`.
/// @throws invalid_argument for options that cannot be; cancelled.
episode_findings judge_episodes(const spike_sequence& spikes, const episode_table& table,
                                const significance_options& significance = {},
                                const surrogate_options& surrogates = {},
                                const execution& run = {});

}  // namespace spikeweave
