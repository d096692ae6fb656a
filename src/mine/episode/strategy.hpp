#pragma once

#include "mine/episode/counters.hpp"

namespace synfire::episodes {

/// How a strategy counts a list. @throws invalid_argument for `automatic`.
list_counter counter_of(episode_strategy strategy);

/// What `automatic` comes to.
episode_strategy chosen(episode_strategy strategy);

/// Checks an interval. @throws invalid_argument unless 0 <= low < high.
interval_us checked_interval(const delay_interval& interval);
/// The same for each of several. @throws invalid_argument also if there is none.
std::vector<interval_us> checked_intervals(const std::vector<delay_interval>& intervals);

}  // namespace synfire::episodes
