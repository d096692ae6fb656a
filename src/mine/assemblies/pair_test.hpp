#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mine/assemblies/series.hpp"

namespace spikeweave::assemblies {

/// The counts of one series at every position, for looking up those at any lag.
using dense_counts = std::vector<std::int16_t>;
dense_counts dense(const series& of, const layout& bins);

/// The number of times that `a` and the other series are active together at each lag from -max_lag
/// to max_lag: the sum of min(a[t], b[t + lag]) over the bins t in which a joint count may begin,
/// which are as many for every lag. At negative lags it is t + lag that runs through these bins.
std::vector<std::uint32_t> joint_counts(const series& a, const dense_counts& b, const layout& bins);

/// The variance of the difference of two joint counts if the series are independent and have
/// constant rates in each chunk (eLife 6:e19428, equations of the non-stationarity-corrected
/// statistic). Chunks are those of the bins that the count at this lag compares.
double difference_variance(const series& a, const series& b, std::int32_t lag, const layout& bins);

/// The test of one pair.
struct pair_score {
    std::int32_t lag = 0;
    std::uint32_t joint = 0;      ///< the joint count at this lag, the largest of all
    std::uint32_t reference = 0;  ///< that at the reference lag
    double p = 1;
    bool is_too_rare = false;  ///< it is not tested, because it is expected too rarely
};

/// Tests a pair, unless the expected count is too near to 0 for the distribution to hold; nothing
/// if it is too near to its largest value. The p-value is not corrected.
/// @param a  of a unit or an assembly
/// @param b  of the unit that may join it, and `at` its counts
/// @param reference_lag  as in `assembly_options`
std::optional<pair_score> test_pair(const series& a, const series& b, const dense_counts& at,
                                    std::uint32_t reference_lag, const layout& bins);

/// Where and how often both are active, at the positions of `a`.
series joined(const series& a, const dense_counts& b, std::int32_t lag, const layout& bins);

}  // namespace spikeweave::assemblies
