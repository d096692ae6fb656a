#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/episode/counters.hpp"
#include "mine/episode/train_index.hpp"

namespace synfire::episodes {

/// Numbers of the intervals, the lowest first: a walk away from a spike meets them in this order.
std::vector<std::uint32_t> intervals_by_low(const counting_problem& problem);

/// How many pairs of spikes are no further apart than the widest interval.
double spikes_within_widest(const counting_problem& problem);

/// What counting all pairs will take, in steps of the inner loop.
struct pair_work {
    double merge;      ///< every spike once for each partner and interval
    double look_back;  ///< every spike once for each spike within the widest interval before it
};
pair_work estimate_pair_work(const counting_problem& problem, std::span<const unit_id> units);

/// Counts every ordered pair of `units` with every interval; keeps the frequent ones, sorted by
/// `chain_less`.
mined_level count_pairs(const counting_problem& problem, const train_index& trains,
                        std::span<const unit_id> units, const level_rules& rules,
                        pair_method method);

}  // namespace synfire::episodes
