#pragma once

#include <span>
#include <vector>

#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The result of the surrogate test for one episode.
struct surrogate_test {
    double mean_count;  ///< mean count over the surrogates
    double p;           ///< (1 + surrogates with at least this count) / (1 + surrogates)
    double q;           ///< p corrected for all candidates tested at this size
    /// P(count >= c) in a renewal model with the mean count of the surrogates and the data. Unlike
    /// p, it has no lower bound set by the number of surrogates; a correction for thousands of
    /// candidates needs such small values.
    double tail_p;
    double tail_q;  ///< tail_p corrected for all candidates tested at this size
};

/// Tests every episode of the table by counting it in every surrogate. An episode of three units or
/// more gets no smaller p and tail_p than those of its steps that the table lists.
/// @throws cancelled, invalid_argument.
SPIKEWEAVE_API std::vector<surrogate_test> test_against_surrogates(const spike_sequence& spikes,
                                                                   const episode_table& table,
                                                                   const surrogate_options& options,
                                                                   correction_method correction,
                                                                   const execution& run = {});

/// Replaces the test results by those of the surrogates, for `find_circuit`: expected = mean_count,
/// p = tail_p, and q is the larger of tail_q and the p that counts surrogates. So no episode is
/// significant if there are too few surrogates to show it (fewer than 1 / alpha). Strengths are
/// kept.
/// @throws invalid_argument if the two spans differ in length.
SPIKEWEAVE_API std::vector<episode_test> with_surrogate_tests(
    std::span<const episode_test> assessed, std::span<const surrogate_test> surrogates);

}  // namespace spikeweave
