#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mine/episodes/windows/sliding/window_events.hpp"

namespace spikeweave::episodes {

/// The number of survivors of each pair of units in a moving window, for each interval: no less
/// than its count. A spike takes one step for each other one within reach of the intervals.
class pair_survivors {
public:
    pair_survivors(std::size_t units, std::size_t intervals);

    /// Removes the survivors that start before `first`, before the spikes are dropped.
    void drop_before(const window_events& events, stream_position first);
    /// Adds those that end at `from` or later, after the spikes were appended.
    void add_from(const window_events& events, stream_position from);

    std::uint32_t operator[](std::size_t pair) const { return counts_[pair]; }
    /// The number of a pair, below `size()`.
    std::size_t pair(std::size_t from, std::size_t interval, std::size_t to) const {
        return (to * intervals_ + interval) * units_ + from;
    }
    std::size_t size() const { return counts_.size(); }

    static std::uint64_t bytes(std::size_t units, std::size_t intervals) {
        return std::uint64_t{sizeof(std::uint32_t)} * units * units * intervals;
    }

private:
    template <class Visit>
    void latest_starts(const window_events& events, stream_position to, std::size_t interval,
                       const Visit& visit);

    std::size_t units_;
    std::size_t intervals_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint64_t> seen_;  // of each unit: the last look back in which it was met
    std::uint64_t looks_ = 0;
};

}  // namespace spikeweave::episodes
