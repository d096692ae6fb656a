#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/latest_start/train_index.hpp"
#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {

/// The number of spikes that a loop processes before it checks for a request to stop.
constexpr std::uint32_t spikes_between_stop_checks = 1024;

/// The numbers of the intervals, the lowest interval first. A walk away from a spike meets them in
/// this order.
std::vector<std::uint32_t> intervals_by_low(const counting_problem& problem);

/// The number of pairs of spikes that are no further apart than the widest interval.
double spikes_within_widest(const counting_problem& problem);

/// Whether looking back from every spike takes less time than `merging_steps` steps of merging the
/// spikes of pairs.
bool looking_back_pays(const counting_problem& problem, double merging_steps);

/// Returns `rules.pairs`, or, if that is `automatic`, the method with less work for these spikes.
pair_method chosen_pair_method(const counting_problem& problem, std::span<const unit_id> units,
                               const level_rules& rules);

/// Counts every ordered pair of `units` with every interval; keeps the frequent ones, sorted by
/// `chain_less`.
mined_level count_pairs(const counting_problem& problem, const train_index& trains,
                        std::span<const unit_id> units, const level_rules& rules);

/// Counts the pairs of a list, by looking back from every spike of their second units.
std::vector<std::uint64_t> count_listed_pairs(const counting_problem& problem,
                                              const train_index& trains,
                                              const candidate_set& pairs);

/// Counts on every ordered pair of `units` with every interval in the next piece of a recording.
/// @param method  not `automatic`
/// @param counts  one for each pair: by its second unit, then by interval, then by its first unit;
///         that of a unit with itself means nothing unless `rules.self_repeats`
void count_pairs_on(const counting_problem& problem, const train_index& trains,
                    std::span<const unit_id> units, const level_rules& rules, pair_method method,
                    const new_spikes& fresh, std::span<running_count> counts);

}  // namespace spikeweave::episodes
