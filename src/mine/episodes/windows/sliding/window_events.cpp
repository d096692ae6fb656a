#include "mine/episodes/windows/sliding/window_events.hpp"

#include <algorithm>

namespace spikeweave::episodes {

window_events::window_events(std::span<const interval_us> intervals, tie_rule ties,
                             std::size_t units)
    : intervals_(intervals.begin(), intervals.end()), ties_(ties), trains_(units) {}

void window_events::append(std::span<const std::int64_t> times, std::span<const unit_id> units) {
    const std::size_t from = times_.size();
    for (std::size_t i = 0; i < times.size(); ++i) {
        trains_[to_index(units[i])].push_back(end());
        times_.push_back(times[i]);
        units_.push_back(units[i]);
    }
    find_overlapped(from);
    find_before(from);
}

// Spikes at equal times overlap, unless only their order counts.
void window_events::find_overlapped(std::size_t from) {
    for (std::size_t i = from, last = from; i < times_.size(); ++i) {
        last = std::max(last, i);
        while (ties_ == tie_rule::time && last + 1 < times_.size() && times_[last + 1] == times_[i])
            ++last;
        last_overlapped_.push_back(first_ + static_cast<stream_position>(last));
    }
}

void window_events::find_before(std::size_t from) {
    std::vector<range> now(intervals_.size(), {begin(), begin()});
    const auto number = [&](std::int64_t time) { return first_at(time); };
    for (std::size_t i = from; i < times_.size(); ++i) {
        for (std::size_t d = 0; d < intervals_.size(); ++d) {
            const std::int64_t earliest = times_[i] - intervals_[d].high;
            const std::int64_t after_last = times_[i] - intervals_[d].low;
            auto& [first, last] = now[d];
            if (i == from) {
                first = number(earliest);
                last = number(after_last);
            }
            while (times_[first - first_] < earliest) ++first;
            while (times_[last - first_] < after_last) ++last;
            before_.push_back(now[d]);
        }
    }
}

void window_events::drop_before(stream_position first) {
    const std::size_t dropped = first - first_;
    for (std::size_t i = 0; i < dropped; ++i) trains_[to_index(units_[i])].drop(1);
    times_.drop(dropped);
    units_.drop(dropped);
    last_overlapped_.drop(dropped);
    before_.drop(dropped * intervals_.size());
    first_ = first;
}

stream_position window_events::first_at(std::int64_t time) const {
    const auto times = times_.view();
    return first_ +
           static_cast<stream_position>(std::ranges::lower_bound(times, time) - times.begin());
}

std::uint64_t window_events::bytes() const {
    return times_.size() * (sizeof(std::int64_t) + sizeof(unit_id) + 2 * sizeof(stream_position) +
                            intervals_.size() * sizeof(range));
}

}  // namespace spikeweave::episodes
