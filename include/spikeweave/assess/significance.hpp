#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Non-overlapped occurrences of one episode as a renewal process (Sastry and Unnikrishnan 2010,
/// Neural Computation 22; arXiv 0808.3511): in each of `ticks` ticks an occurrence starts with
/// probability `start_probability`, and the next can start `span_ticks` ticks later.
struct occurrence_model {
    double ticks;              ///< L, duration / tick
    double start_probability;  ///< p
    double span_ticks;         ///< T, at least 1

    /// Closed forms of the published recursions F and V.
    double expected_count() const;
    double count_variance() const;
    /// P(count >= c) = P(Bin(L - c(T-1), p) >= c): exact in this model.
    double tail_probability(std::uint64_t count) const;
    /// The published threshold F + sqrt(V / epsilon).
    double chebyshev_threshold(double epsilon) const;
    /// The published bound on the p-value: V / (c - F)^2, 1 at or below the mean.
    double chebyshev_probability(std::uint64_t count) const;
};

/// The published recursions themselves, step by step; for checking the closed forms. Needs whole
/// `ticks` and `span_ticks`.
struct count_moments {
    double mean;
    double variance;
};
count_moments count_moments_by_recursion(const occurrence_model& model);

/// The null that counts are held against; docs/algorithms/significance.md says what each is for.
enum class significance_test : std::uint8_t {
    jitter,  ///< one unit's spikes turned within cells of `jitter_window`, the others as they are:
             ///< holds for rates that change together more slowly, dead times and bursts
    exact,   ///< stationary independent units, the renewal model's exact tail
    chebyshev,  ///< the same by the published bound
};
/// What `statsmodels.stats.multitest.multipletests` has under the same names; equal to it to 1e-12.
enum class correction : std::uint8_t {
    none,
    bonferroni,
    sidak,
    holm_sidak,
    holm,            ///< Holm 1979, Scand. J. Statist. 6:65
    simes_hochberg,  ///< Hochberg 1988, Biometrika 75:800
    hommel,          ///< Hommel 1988, Biometrika 75:383; takes the square of the listed p-values
    benjamini_hochberg,   ///< "fdr_bh": Benjamini and Hochberg 1995, JRSS B 57:289
    benjamini_yekutieli,  ///< "fdr_by": Benjamini and Yekutieli 2001, Ann. Statist. 29:1165
    two_stage_bh,         ///< "fdr_tsbh"
    two_stage_bky,        ///< "fdr_tsbky": Benjamini, Krieger and Yekutieli 2006, Biometrika 93:491
};

std::string_view to_string(correction method);
/// Takes also "bh" and "benjamini-hochberg" for "fdr_bh", and "no" for "none".
/// @throws invalid_argument
correction correction_from(std::string_view name);
/// The same without two-stage corrections, whose q-values hold for one alpha only: for tables whose
/// readers may have another one in mind.
/// @throws invalid_argument
correction one_stage_correction_from(std::string_view name);
/// Whether corrected p-values hold for one alpha only.
bool is_two_stage(correction method);
std::string_view to_string(significance_test test);
significance_test significance_test_from(std::string_view name);  ///< @throws invalid_argument

/// p-values corrected for `tests` >= p.size() hypotheses; those not listed count as p = 1.
/// @throws invalid_argument with fewer tests than p-values, for what is no probability, or for a
/// two-stage correction, which needs an alpha.
std::vector<double> adjust(std::span<const double> p, std::uint64_t tests, correction method);

struct corrected_tests {
    std::vector<double> q;  ///< corrected p
    /// Decided on p, as statsmodels does: next to alpha that can differ from q <= alpha in the
    /// last bit.
    std::vector<bool> rejected;
};
/// The same with the decisions at alpha in (0, 1].
/// @throws invalid_argument
corrected_tests correct_tests(std::span<const double> p, std::uint64_t tests, correction method,
                              double alpha);

struct significance_options {
    significance_test test = significance_test::jitter;
    correction correct = correction::holm;  ///< not a two-stage one
    double alpha = 0.01;
    /// Timing that this leaves open is what the test `jitter` can see; what is slower it takes for
    /// granted. At least 1 ms. An episode with a delay interval wider than a third of it takes
    /// three times that interval.
    duration jitter_window = std::chrono::milliseconds{10};
    /// The grid on which the null model lives; the papers' clock.
    duration tick = std::chrono::milliseconds{1};
};

/// Under the null of the test; one element an episode of the table.
/// A single unit is no test, since its rate is taken from its count: expected = count, p = q = 1,
/// strength = 0.
struct assessed_episode {
    double expected;  ///< mean count under the null
    double p;
    double q;  ///< p corrected for all candidates tested at this size
    /// Probability that a step is taken, the same for every step, that would give this count on
    /// average; in [0, 1]. Chance firing is part of it.
    double strength;
};

/// The model of one episode in these spikes under stationary independent units: the shares of time
/// in which a unit fires within a delay interval, and the mean delay to its first spike, are
/// measured over the recorded span.
/// @throws invalid_argument for an episode that cannot be, or a tick that is not positive.
occurrence_model independent_model(const spike_sequence& spikes, const episode& what,
                                   duration tick);

/// The number of tests at a size is the number of candidates that the search had there.
std::vector<assessed_episode> assess_episodes(const spike_sequence& spikes,
                                              const episode_table& table,
                                              const significance_options& options = {},
                                              const execution& run = {});

}  // namespace spikeweave
