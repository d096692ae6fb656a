#pragma once

#include <span>
#include <vector>

#include "spikeweave/assess/significance.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// One element an episode.
struct surrogate_assessment {
    double mean_count;  ///< over the surrogates
    double p;           ///< (1 + surrogates with at least this count) / (1 + surrogates)
    double q;           ///< p corrected for all candidates tested at this size
    /// P(count >= c) in a renewal model with the mean count of the surrogates and the data: not
    /// bounded below by the number of surrogates, which a correction for thousands of candidates
    /// needs.
    double tail_p;
    double tail_q;
};

/// Counts every episode of the table in every surrogate. An episode of three units or more has no
/// smaller p and tail_p than the steps of it that the table lists. @throws cancelled,
/// invalid_argument.
std::vector<surrogate_assessment> assess_by_surrogates(const spike_sequence& spikes,
                                                       const episode_table& table,
                                                       const surrogate_options& options,
                                                       correction correct,
                                                       const execution& run = {});

/// The assessment that the surrogates imply, for `find_circuit`: expected = mean_count, p = tail_p,
/// q the larger of tail_q and the rank p, so that nothing is significant that fewer surrogates than
/// 1 / alpha could show. Strengths are kept.
/// @throws invalid_argument if the two are not equally long.
std::vector<assessed_episode> by_surrogates(std::span<const assessed_episode> assessed,
                                            std::span<const surrogate_assessment> surrogates);

}  // namespace spikeweave
