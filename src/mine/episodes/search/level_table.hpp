#pragma once

#include <chrono>
#include <span>
#include <stop_token>

#include "core/stop.hpp"
#include "mine/episodes/latest_start/memory_limit.hpp"
#include "mine/episodes/search/counters.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The table of a search that goes level by level.
namespace spikeweave::episodes {

/// Fills in the entries known before the first level: the threshold, the strategy that will run,
/// and warnings.
/// @throws invalid_argument if an option is out of range or the strategy cannot run on the devices
/// of `run`.
void begin_table(const spike_sequence& spikes, const episode_mining_options& options,
                 const execution& run, episode_table& table);

/// Appends a complete level: its episodes, sorted, and what it took.
/// @param delays  those that the level's numbers stand for
void append_level(episode_table& table, const mined_level& level,
                  std::span<const delay_interval> delays, std::chrono::duration<double> took,
                  const std::stop_token& stop);

/// Removes what a table has of a level that was not finished.
void keep_complete_levels(episode_table& table);

/// Calls `fill` with a table to be filled level by level. If `enough` is requested meanwhile, or
/// more memory is needed than the search may use, the table keeps the levels that are complete.
/// @throws cancelled if `run` is stopped.
template <class Fill>
episode_table mine_until(const std::stop_token& enough, const execution& run, const Fill& fill) {
    episode_table table;
    if (!enough.stop_possible()) {
        fill(run, table);
        return table;
    }
    std::stop_source either;
    const auto stop = [&either] { either.request_stop(); };
    const std::stop_callback when_stopped(run.stop, stop);
    const std::stop_callback when_enough(enough, stop);
    execution until_either = run;
    until_either.stop = either.get_token();
    try {
        fill(until_either, table);
    } catch (const cancelled&) {
        core::throw_if_stopped(run.stop);
        keep_complete_levels(table);
    } catch (const memory_exceeded&) {
        keep_complete_levels(table);
    }
    return table;
}

}  // namespace spikeweave::episodes
