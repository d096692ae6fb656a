#pragma once

#include <string>
#include <vector>

#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/assess/episodes/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The test results for the episodes of a table, and the circuit that follows from them.
struct episode_test_result {
    /// One element for each episode of the table.
    std::vector<episode_test> assessed{};
    /// One element for each episode of the table; empty if no surrogates were requested.
    std::vector<surrogate_test> surrogates{};
    spikeweave::circuit circuit{};
    /// The warnings of `check_tests`; one more if bursts within the cells of the test are a reason.
    std::vector<std::string> warnings{};
};

/// Warnings for the user about these tests, as full sentences: fewer surrogates than alpha
/// requires, or a dither of a second or more. Call this to warn before the work begins.
SPIKEWEAVE_API std::vector<std::string> check_tests(const spike_sequence& spikes,
                                                    const significance_options& significance = {},
                                                    const surrogate_options& surrogates = {});

/// Tests the episodes of a table under the null hypothesis of `significance`, and also with
/// surrogates if `surrogates.surrogates` is above 0. Then the surrogates determine the circuit. The
/// alpha of the circuit is that of `significance`.
/// @param counted  how often the episodes occur in the surrogates, if they were counted before
/// @throws invalid_argument if an option is out of range; cancelled.
SPIKEWEAVE_API episode_test_result test_episodes(const spike_sequence& spikes,
                                                 const episode_table& table,
                                                 const significance_options& significance = {},
                                                 const surrogate_options& surrogates = {},
                                                 const execution& run = {},
                                                 const surrogate_tally* counted = nullptr);

}  // namespace spikeweave
