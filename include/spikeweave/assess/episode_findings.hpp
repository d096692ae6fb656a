#pragma once

#include <string>
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
    /// Those of `check_tests`.
    std::vector<std::string> warnings{};
};

/// What speaks against testing these spikes in this way, as whole sentences: fewer surrogates than
/// alpha asks for, a dither of a second or more. For whoever wants to know before the work begins.
std::vector<std::string> check_tests(const spike_sequence& spikes,
                                     const significance_options& significance = {},
                                     const surrogate_options& surrogates = {});

/// Tests the episodes of a table under the null of `significance`, and by surrogates when these are
/// asked for, which then decide on the circuit. Its alpha is that of `significance`.
/// @throws invalid_argument for options that cannot be; cancelled.
episode_findings judge_episodes(const spike_sequence& spikes, const episode_table& table,
                                const significance_options& significance = {},
                                const surrogate_options& surrogates = {},
                                const execution& run = {});

}  // namespace spikeweave
