#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "synfire/assess/significance.hpp"
#include "synfire/core/execution.hpp"
#include "synfire/mine/episode.hpp"
#include "synfire/spikes/spike_sequence.hpp"

namespace synfire {

enum class surrogate_method : std::uint8_t {
    interval_jitter,  ///< each spike goes to a uniform place within its own interval of a fixed
                      ///< grid (2 × dither wide)
    spike_dithering,  ///< each spike moves by a uniform amount in [-dither, dither]
};
std::string_view to_string(surrogate_method method);
surrogate_method surrogate_method_from(std::string_view name);  ///< @throws invalid_argument

struct surrogate_options {
    std::uint32_t surrogates = 0;
    surrogate_method method = surrogate_method::interval_jitter;
    duration dither = std::chrono::milliseconds{25};
    std::uint64_t seed = 0;
};

/// Surrogate number `which`: the same units, counts and span, fine timing destroyed. A pure
/// function of its arguments. Spikes that would leave the span are reflected into it. Each unit
/// keeps its dead time (its shortest interval, at most 4 ms: Stella, Bouss, Palm and Grün 2022,
/// eNeuro, doi:10.1523/ENEURO.0505-21.2022), without which regular firing looks like coordination;
/// interval_jitter gives it up between two intervals that are too full.
/// @throws invalid_argument for a dither outside (0, 1 h].
spike_sequence make_surrogate(const spike_sequence& spikes, const surrogate_options& options,
                              std::uint32_t which);

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

/// Counts every episode of the table in every surrogate. @throws cancelled, invalid_argument.
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

}  // namespace synfire
