#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Options of `approximate_stability`.
struct stability_options {
    /// Number of random subsets of the spikes, and of the occurrences, of each pattern, at most
    /// 10^7. If there are no more subsets than this, all are used. 0 means as many as `delta` and
    /// `epsilon` require.
    std::uint64_t n_subsets = 0;
    double delta = 0;    ///< highest probability of an error above epsilon; in (0, 1)
    double epsilon = 0;  ///< error that a value may have; in (0, 1]
    std::uint64_t seed = 0;
};

/// The number of subsets to draw: n_subsets, or round(ln(2 / delta) / (2 epsilon²) + 1) if that is
/// 0. @throws invalid_argument if an option is out of range.
SPIKEWEAVE_API std::uint64_t subset_count(const stability_options& options);

/// The share of a pattern that can be removed without turning it into another pattern (Kuznetsov
/// 2007, Ann. Math. Artif. Intell. 49:101).
struct stability {
    /// Share of subsets of its spikes that occur nowhere else.
    double intensional = 0;
    /// Share of subsets of its occurrences that have nothing else in common.
    double extensional = 0;

    friend bool operator==(const stability&, const stability&) = default;
};

/// Estimates the stability of each pattern from random subsets (Babin and Kuznetsov 2012, ICFCA).
/// The value is exact if n_subsets is at least 2^elements. Subsets of fewer than 64 elements are
/// all different. The empty set of spikes occurs in every window; the empty set of occurrences has
/// every item in common. The result is the same for any number of threads and ranks, and complete
/// on each rank.
/// @param table  patterns mined from these windows, with occurrences
/// @throws invalid_argument if the table is not from these windows or has no occurrences;
/// cancelled.
SPIKEWEAVE_API std::vector<stability> approximate_stability(const spade_windows& windows,
                                                            const pattern_table& table,
                                                            const stability_options& options,
                                                            const execution& run = {});

/// Indices of the patterns with at least one of the two stabilities above its threshold.
SPIKEWEAVE_API std::vector<std::size_t> filter_stable(std::span<const stability> values,
                                                      const stability& thresholds);

}  // namespace spikeweave
