#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

struct stability_options {
    /// Random subsets of the spikes, and of the occurrences, of each pattern; all of them where
    /// there are no more. 0: as many as `delta` and `epsilon` ask for. At most 10^7.
    std::uint64_t n_subsets = 0;
    double delta = 0;    ///< a value is off by more than epsilon with this probability at most
    double epsilon = 0;  ///< in (0, 1]
    std::uint64_t seed = 0;
};

/// n_subsets, or round(ln(2 / delta) / (2 epsilon²) + 1). @throws invalid_argument
std::uint64_t subset_count(const stability_options& options);

/// How much of a pattern can be taken away without its becoming another (Kuznetsov 2007, Ann.
/// Math. Artif. Intell. 49:101).
struct stability {
    /// Share of subsets of its spikes that occur nowhere else.
    double intensional = 0;
    /// Share of subsets of its occurrences that have nothing else in common.
    double extensional = 0;

    friend bool operator==(const stability&, const stability&) = default;
};

/// By random subsets, exact where n_subsets reaches 2^elements (Babin and Kuznetsov 2012,
/// ICFCA). Subsets of less than 64 elements differ from each other. The
/// empty set of spikes occurs in every window, the empty set of occurrences has every item in
/// common. The same for any number of threads and ranks, whole on each.
/// @param table  of these windows, with occurrences
/// @throws invalid_argument for a table that is not; cancelled.
std::vector<stability> approximate_stability(const spade_windows& windows,
                                             const pattern_table& table,
                                             const stability_options& options,
                                             const execution& run = {});

/// The patterns for which one of the two is above its threshold.
std::vector<std::size_t> filter_stable(std::span<const stability> values,
                                       const stability& thresholds);

}  // namespace spikeweave
