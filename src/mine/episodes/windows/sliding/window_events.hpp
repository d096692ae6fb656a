#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mine/episodes/search/counters.hpp"
#include "mine/episodes/tracker/front_queue.hpp"

namespace spikeweave::episodes {

/// The number of a spike in a stream, in the order of the stream.
using stream_position = std::uint32_t;

/// The spikes of a window that moves on. The results of comparing times are computed once for each
/// spike, so that a search only compares positions.
class window_events {
public:
    /// The spikes [begin, end).
    struct range {
        stream_position begin;
        stream_position end;
    };

    window_events(std::span<const interval_us> intervals, tie_rule ties, std::size_t units);

    /// Appends spikes to the others, all of which are earlier.
    void append(std::span<const std::int64_t> times, std::span<const unit_id> units);
    void drop_before(stream_position first);

    stream_position begin() const { return first_; }
    stream_position end() const { return first_ + static_cast<stream_position>(times_.size()); }
    /// The first spike at this time or later.
    stream_position first_at(std::int64_t time) const;
    unit_id unit(stream_position spike) const { return units_[spike - first_]; }
    /// The spikes of a unit.
    std::span<const stream_position> train(unit_id unit) const {
        return trains_[to_index(unit)].view();
    }
    /// An occurrence that ends with `spike` overlaps those that start at this position or before.
    stream_position last_overlapped(stream_position spike) const {
        return last_overlapped_[spike - first_];
    }
    /// The spikes from which the delay to `spike` is in this interval.
    range before(stream_position spike, std::size_t interval) const {
        return before_[(spike - first_) * intervals_.size() + interval];
    }
    std::size_t interval_count() const { return intervals_.size(); }
    std::size_t unit_count() const { return trains_.size(); }
    std::uint64_t bytes() const;

private:
    void find_overlapped(std::size_t from);
    void find_before(std::size_t from);

    std::vector<interval_us> intervals_;
    tie_rule ties_;
    stream_position first_ = 0;
    front_queue<std::int64_t> times_{};
    front_queue<unit_id> units_{};
    front_queue<stream_position> last_overlapped_{};
    front_queue<range> before_{};  // by spike, then by interval
    std::vector<front_queue<stream_position>> trains_;
};

}  // namespace spikeweave::episodes
