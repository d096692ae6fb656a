#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/assess/episodes/options.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Models the non-overlapped occurrences of one episode as a renewal process (Sastry and
/// Unnikrishnan 2010, Neural Computation 22; arXiv 0808.3511): in each of `ticks` ticks an
/// occurrence starts with probability `start_probability`, and the next one can start `span_ticks`
/// ticks later.
struct SPIKEWEAVE_API occurrence_model {
    double ticks;              ///< L, duration / tick
    double start_probability;  ///< p
    double span_ticks;         ///< T, at least 1

    /// Mean and variance of the count: closed forms of the published recursions F and V.
    double expected_count() const;
    double count_variance() const;
    /// P(count >= c) = P(Bin(L - c(T-1), p) >= c): exact in this model.
    double tail_probability(std::uint64_t count) const;
    /// The published threshold F + sqrt(V / epsilon).
    double chebyshev_threshold(double epsilon) const;
    /// The published bound on the p-value: V / (c - F)^2, 1 at or below the mean.
    double chebyshev_probability(std::uint64_t count) const;
};

/// Mean and variance of a count.
struct count_moments {
    double mean;
    double variance;
};
/// Evaluates the published recursions step by step, to check the closed forms. `ticks` and
/// `span_ticks` must be whole numbers.
SPIKEWEAVE_API count_moments count_moments_by_recursion(const occurrence_model& model);

/// The test result for one episode.
/// An episode of a single unit is not tested, since its rate is taken from its count: expected =
/// count, p = q = 1, strength = 0.
struct episode_test {
    /// Mean count under the null hypothesis. In the test `jitter` it is estimated from the weakest
    /// step where a step of a longer episode is likely by chance.
    double expected;
    double p;  ///< p-value of the count under the null hypothesis
    double q;  ///< p corrected for all candidates tested at this size
    /// The probability of a step, the same for every step, that would give this count on average;
    /// in [0, 1]. It includes chance firing.
    double strength;
};
template <>
struct members_of<episode_test> {
    static void list(const auto& to) {
        to("expected", &episode_test::expected, "occurrences that chance would give");
        to("p", &episode_test::p,
           "the probability that chance gives at least this count; q is corrected for all "
           "candidates of the size");
        to("q", &episode_test::q);
        to("strength", &episode_test::strength,
           "how often each spike of the chain would be followed by the next one, if that alone "
           "explained the count");
    }
};

/// Makes the model of one episode in these spikes for stationary independent units. The share of
/// time in which a unit fires within a delay interval, and the mean delay to its first spike, are
/// measured over the recorded span.
/// @throws invalid_argument if the episode is invalid or the tick is not positive.
SPIKEWEAVE_API occurrence_model independent_model(const spike_sequence& spikes, const episode& what,
                                                  duration tick);
/// The models of several episodes; their common quantities are measured once.
SPIKEWEAVE_API std::vector<occurrence_model> independent_models(const spike_sequence& spikes,
                                                                std::span<const episode> episodes,
                                                                duration tick);

/// Tests the episodes of a table; returns one element for each. The p-values of each size are
/// corrected for the number of candidates that the search had at that size.
SPIKEWEAVE_API std::vector<episode_test> test_against_null(const spike_sequence& spikes,
                                                           const episode_table& table,
                                                           const significance_options& options = {},
                                                           const execution& run = {});

}  // namespace spikeweave
