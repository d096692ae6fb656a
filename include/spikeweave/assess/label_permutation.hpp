#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"

/// Whether a quantity differs between two conditions, by permutation of the labels of samples.
/// docs/algorithms/compare.md has the formulas.
namespace spikeweave {

/// A measurement in a sample, such as an epoch or a recording: an amount and its divisor, such as
/// occurrences and seconds. A sample without a divisor (`per` of 0) carries no information.
struct ratio_sample {
    double amount = 0;
    double per = 0;  ///< at least 0
};

/// A value with its confidence interval; NaN where it is not known.
struct interval_estimate {
    double value;
    double low;
    double high;
};

/// The change of a ratio from condition a to condition b.
struct ratio_change {
    /// The sum of the amounts divided by the sum of the divisors, in each condition.
    double a;
    double b;
    interval_estimate difference;  ///< b - a
    interval_estimate ratio;       ///< b / a; not known unless both are above 0
    double p;                      ///< two-sided; 1 if it cannot be tested
};

struct permutation_options {
    /// The number of random labellings. If there are no more labellings than this, each of them is
    /// used once.
    std::uint32_t permutations = 9'999;
    std::uint64_t seed = 1;
    double confidence = 0.95;  ///< of the intervals
};

SPIKEWEAVE_API option_list describe(permutation_options& options);

/// The labellings of a test.
struct label_permutations {
    bool exact = false;        ///< whether they are all that there are
    std::uint64_t number = 0;  ///< with the observed one if `exact`, else without it
    double smallest_p = 1;     ///< no p-value can be below this
};

/// The labellings that a test of this many samples uses.
/// @throws invalid_argument unless each condition has two samples, or if an option is out of range.
SPIKEWEAVE_API label_permutations permutations_of(std::size_t samples_a, std::size_t samples_b,
                                                  const permutation_options& options = {});

/// Tests each quantity with the same labellings. The statistic is the difference of the ratios
/// divided by its standard error (Janssen 1997, Statistics & Probability Letters 36:9; Chung and
/// Romano 2013, Ann. Statist. 41:484), so the test is exact if the samples are exchangeable, and
/// holds for many samples if only their variances differ. p of random labellings counts the
/// observed one (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585). The result does not depend on
/// the number of threads.
/// @param quantities  for each quantity, the samples of condition a and then those of condition b
/// @throws invalid_argument as `permutations_of`, or if a quantity has another number of samples;
/// cancelled.
SPIKEWEAVE_API std::vector<ratio_change> compare_ratios(
    std::span<const std::vector<ratio_sample>> quantities, std::size_t samples_a,
    const permutation_options& options = {}, const execution& run = {});

}  // namespace spikeweave
