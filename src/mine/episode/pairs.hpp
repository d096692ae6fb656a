#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/episode/counters.hpp"
#include "mine/episode/train_index.hpp"

namespace spikeweave::episodes {

/// How many spikes look around before a loop asks whether it should go on.
constexpr std::uint32_t spikes_between_stop_checks = 1024;

/// Numbers of the intervals, the lowest first: a walk away from a spike meets them in this order.
std::vector<std::uint32_t> intervals_by_low(const counting_problem& problem);

/// How many pairs of spikes are no further apart than the widest interval.
double spikes_within_widest(const counting_problem& problem);

/// `rules.pairs`, or what is less work for these spikes. Never `automatic`.
pair_method chosen_pair_method(const counting_problem& problem, std::span<const unit_id> units,
                               const level_rules& rules);

/// Counts every ordered pair of `units` with every interval; keeps the frequent ones, sorted by
/// `chain_less`.
mined_level count_pairs(const counting_problem& problem, const train_index& trains,
                        std::span<const unit_id> units, const level_rules& rules);

}  // namespace spikeweave::episodes
