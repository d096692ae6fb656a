#pragma once

#include <gtest/gtest.h>

#include "mine/spade/many_maxima.hpp"
#include "spikeweave/mine/spade.hpp"
#include "support/run_length.hpp"

namespace spikeweave {

/// Half of the windows are given as such, so that it is not known what precedes them.
inline spade_windows draw_windows(random_searches& draw, const recording_size& size,
                                  std::uint32_t most_percent) {
    const std::uint32_t window_bins = 1 + draw.below(draw.chance(20) ? 40 : 6);
    const spade_windows made(draw.recording(size.units, size.bins, most_percent), window_bins);
    if (draw.chance(50)) return made;
    return {{made.offsets().begin(), made.offsets().end()},
            {made.all_items().begin(), made.all_items().end()},
            made.unit_count(),
            window_bins};
}

/// Compares what `mine(windows, options)` finds in a random recording with the CPU's search, and
/// adds the number of patterns to `compared`.
template <class Mine>
void expect_patterns_of_the_cpu(random_searches& draw, const recording_size& size,
                                std::uint32_t most_percent, const drawn_thresholds& occ,
                                std::size_t& compared, Mine&& mine) {
    const spade_windows windows = draw_windows(draw, size, most_percent);
    pattern_mining_options options = draw.options(size.units, occ);
    options.with_occurrences = draw.chance(70);
    const pattern_mining_result expected = mine_patterns(windows, options);
    const pattern_mining_result found = mine(windows, options);
    ASSERT_EQ(found.table, expected.table)
        << described(options) << ", window " << windows.window_bins();
    ASSERT_EQ(found.summary.closed, expected.summary.closed);
    ASSERT_EQ(found.summary.window_subsets, expected.summary.window_subsets);
    ASSERT_EQ(found.summary.too_frequent, expected.summary.too_frequent);
    compared += found.table.size();
}

/// The few cases of a shortened run may have no pattern.
inline void expect_enough(std::size_t compared, std::size_t usual_cases) {
    if (!is_shortened_run()) {
        EXPECT_GT(compared, usual_cases);
    }
}

}  // namespace spikeweave
