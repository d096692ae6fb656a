#pragma once

#include <cstdint>
#include <span>

#include "mine/episode/counters.hpp"
#include "mine/episode/train_index.hpp"

namespace synfire::episodes {

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
