#include "mine/episodes/windows/sliding/pair_survivors.hpp"

#include <algorithm>

namespace spikeweave::episodes {

pair_survivors::pair_survivors(std::size_t units, std::size_t intervals)
    : units_(units), intervals_(intervals), counts_(units * units * intervals), seen_(units) {}

// Looks back from a spike, and passes on each unit that it meets with the latest of its spikes.
template <class Visit>
void pair_survivors::latest_starts(const window_events& events, stream_position to,
                                   std::size_t interval, const Visit& visit) {
    const auto [earliest, end] = events.before(to, interval);
    ++looks_;
    for (stream_position from = end; from-- > std::max(earliest, events.begin());) {
        const std::size_t unit = to_index(events.unit(from));
        if (seen_[unit] == looks_) continue;
        seen_[unit] = looks_;
        visit(unit, from);
    }
}

// Goes through the spikes unit by unit, so that the counts stay in the cache.
void pair_survivors::drop_before(const window_events& events, stream_position first) {
    for (std::uint32_t unit = 0; unit < units_; ++unit) {
        for (std::size_t d = 0; d < intervals_; ++d) {
            std::uint32_t* const counts = counts_.data() + pair(0, d, unit);
            for (const stream_position to : events.train(unit_id{unit})) {
                if (events.before(to, d).begin >= first) break;
                latest_starts(events, to, d, [&](std::size_t start, stream_position from) {
                    counts[start] -= from < first ? 1 : 0;
                });
            }
        }
    }
}

void pair_survivors::add_from(const window_events& events, stream_position first) {
    for (std::uint32_t unit = 0; unit < units_; ++unit) {
        const auto train = events.train(unit_id{unit});
        const auto fresh = std::ranges::lower_bound(train, first);
        for (std::size_t d = 0; d < intervals_; ++d) {
            std::uint32_t* const counts = counts_.data() + pair(0, d, unit);
            for (auto to = fresh; to != train.end(); ++to)
                latest_starts(
                    events, *to, d,
                    [counts](std::size_t start, stream_position /*from*/) { ++counts[start]; });
        }
    }
}

}  // namespace spikeweave::episodes
