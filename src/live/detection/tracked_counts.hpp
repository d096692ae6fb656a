#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "live/session/event_order.hpp"
#include "live/session/session_options.hpp"
#include "live/sinks/sink.hpp"
#include "spikeweave/mine/episodes/tracker.hpp"

namespace spikeweave::live {

/// Gives a sink the counts of the armed episodes in the last window, at regular times of the
/// recording. Where nothing comes for more than a thousand of these times at once, only the first
/// and the last of them are given.
class tracked_counts {
public:
    /// @param unit_count  of armed episodes; spikes of other units are left out
    tracked_counts(std::span<const armed_episode> armed, std::size_t unit_count, tie_rule ties,
                   const tracking_options& options, sink& results);

    void add(const spike_event& spike);
    /// All spikes before this time have come.
    void advance(std::int64_t time_us);
    void end_epoch();

private:
    void give_before(std::int64_t time_us);
    void give_until(std::int64_t time_us);
    void leave_out_silent_before(std::int64_t time_us);

    sink* results_;
    std::size_t unit_count_;
    tracking_options options_;
    episode_tracker tracker_;
    std::optional<std::int64_t> first_;  // time of the first spike of the epoch
    std::int64_t last_us_ = 0;           // time of the last spike
    std::int64_t next_ = 0;              // the next time at which counts are given
    std::vector<std::uint64_t> counts_;
};

}  // namespace spikeweave::live
