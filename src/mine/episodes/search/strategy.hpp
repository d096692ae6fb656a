#pragma once

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {

/// The function with which a strategy counts a list on the CPU; null if there is none.
list_counter counter_of(episode_strategy strategy);
/// The same on a device.
device_counter device_counter_of(episode_strategy strategy);

/// Resolves `automatic`. @throws invalid_argument if the strategy cannot run on the devices of
/// `run`.
episode_strategy chosen(episode_strategy strategy, const execution& run);

/// @throws invalid_argument if the work should be split by time, but the strategy cannot do that.
void check_split(device_split split, episode_strategy strategy);
/// The compaction that runs, `automatic` if there is none. @throws invalid_argument if one is given
/// but would not be used.
compaction_method chosen(compaction_method how, episode_strategy ran_on, const execution& run);

/// Checks an episode's size and units. @throws invalid_argument with its number in the list.
void check_episode(const episode& what, std::size_t number, std::size_t unit_count);
/// Checks an interval. @throws invalid_argument unless 0 <= low < high.
interval_us checked_interval(const delay_interval& interval);
/// The intervals in order, so that their numbers identify them, each once: a second one would only
/// be counted again.
std::vector<delay_interval> sorted_delays(std::vector<delay_interval> delays);
/// The longest delay that these allow; 0 if there is none. Epochs are kept this far apart.
duration longest_delay(std::span<const delay_interval> delays);
/// Checks each of several intervals. @throws invalid_argument also if there is none.
std::vector<interval_us> checked_intervals(const std::vector<delay_interval>& intervals);

}  // namespace spikeweave::episodes
