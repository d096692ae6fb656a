#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "mine/spade/miners.hpp"

namespace synfire::spade {

/// What one part of a search found.
struct mined_part {
    pattern_table patterns{};
    mining_summary summary{};
};

/// Makes all parts on the threads and ranks of `run` and hands on their patterns in the order of
/// the parts, on rank 0. Costs are guesses, by which parts are dealt out to ranks.
/// @return the sum of the parts' summaries, on rank 0.
mining_summary for_each_part(std::span<const double> costs, const execution& run,
                             const std::function<mined_part(std::size_t)>& make,
                             const block_taker& take);

}  // namespace synfire::spade
