#pragma once

#include "mine/episode/counters.hpp"
#include "mine/episode/cuda/counters.hpp"

namespace spikeweave::episodes {

/// How a strategy counts a list on the CPU; null if it does not.
list_counter counter_of(episode_strategy strategy);
/// The same on a device.
device_counter device_counter_of(episode_strategy strategy);

/// What `automatic` comes to. @throws invalid_argument for a strategy that cannot run on what `run`
/// names.
episode_strategy chosen(episode_strategy strategy, const execution& run);

/// @throws invalid_argument for a strategy that cannot take its time in stretches, if it is to.
void check_split(device_split split, episode_strategy strategy);
/// The compaction that runs, `automatic` where there is none. @throws invalid_argument for one that
/// nothing asks for.
compaction chosen(compaction how, episode_strategy ran_on, const execution& run);

/// Checks an interval. @throws invalid_argument unless 0 <= low < high.
interval_us checked_interval(const delay_interval& interval);
/// The same for each of several. @throws invalid_argument also if there is none.
std::vector<interval_us> checked_intervals(const std::vector<delay_interval>& intervals);

}  // namespace spikeweave::episodes
