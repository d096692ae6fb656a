#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/pair_tests.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/assess/episodes/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The test results for the episodes of a table, and the circuit that follows from them.
struct episode_test_result {
    /// One element for each episode of the table, as it is after the tests.
    std::vector<episode_test> assessed{};
    /// One element for each episode of the table; empty if no surrogates were requested.
    std::vector<surrogate_test> surrogates{};
    /// The tests of pairs that the circuit was built from; nothing if it was built from the table.
    std::optional<pair_tests> pairs{};
    spikeweave::circuit circuit{};
    /// The warnings of `check_tests`, and those about the circuit.
    std::vector<std::string> warnings{};
};

/// Which pairs of units are tested for connections: all of them at these delays; or those that
/// other spikes suggested; or, without both, the pairs of the table.
struct choice_of_pairs {
    std::vector<delay_interval> delays{};
    std::optional<std::vector<pair_test>> suggested{};
};

/// Warnings for the user about these tests, as full sentences: fewer surrogates than alpha
/// requires, or a dither of a second or more. Call this to warn before the work begins.
SPIKEWEAVE_API std::vector<std::string> check_tests(const spike_sequence& spikes,
                                                    const significance_options& significance = {},
                                                    const surrogate_options& surrogates = {});

/// Tests the episodes of a table under the null hypothesis of `significance`, and also with
/// surrogates if `surrogates.surrogates` is above 0. The circuit is built from tests of pairs if
/// the test is `jitter` and there are no surrogates, else from the tests of the table's pairs. Its
/// alpha is that of `significance`.
/// @param table    gets the excitatory edges of the circuit that the search did not list, each with
///        its best window as an episode of two units
/// @param pairs    which pairs of units are tested for connections
/// @param counted  the counts of the episodes in the surrogates, if they were counted before
/// @throws invalid_argument if an option is out of range; cancelled.
SPIKEWEAVE_API episode_test_result test_episodes(const spike_sequence& spikes, episode_table& table,
                                                 const choice_of_pairs& pairs = {},
                                                 const significance_options& significance = {},
                                                 const surrogate_options& surrogates = {},
                                                 const execution& run = {},
                                                 const surrogate_tally* counted = nullptr);

}  // namespace spikeweave
