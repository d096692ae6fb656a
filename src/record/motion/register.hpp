#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/motion/peak_histograms.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/motion.hpp"

namespace spikeweave::record {

/// The displacement of the spikes of a later time bin above those of an earlier one, in one window.
struct pair_displacement {
    std::uint32_t earlier;
    std::uint32_t later;
    double um;
    double weight;  ///< the better the two histograms agree at this displacement only, the larger
};

/// Displaces histograms of pairs of time bins against each other, for the best correlation. All
/// pairs would be too many for a long recording: the lags between them grow by a tenth each.
/// @return window by window
std::vector<std::vector<pair_displacement>> displacements_of(
    const motion_histograms& from, const std::vector<depth_window>& windows, const execution& run);

/// The displacement of each window in each time bin, `[time * windows + window]`, that agrees best
/// with those of pairs; the median over time is 0. It is a robust fit: pairs that disagree with the
/// rest count little. Few large steps cost as little as many small ones, so that jumps are not
/// smeared.
std::vector<double> solve_displacements(const std::vector<std::vector<pair_displacement>>& pairs,
                                        std::size_t times, const execution& run);

}  // namespace spikeweave::record
