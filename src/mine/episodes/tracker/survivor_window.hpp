#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mine/episodes/tracker/front_queue.hpp"

namespace spikeweave::episodes {

/// The survivors of an episode in a window that moves on, and how many of their occurrences there
/// are without overlap. A survivor has the places of its latest start and of its end, which are
/// times or positions in the stream.
///
/// A meeting point is a survivor that starts after the end of the one before it. Whichever survivor
/// a count begins with, it includes every later meeting point, so the rest of the count is a
/// difference of totals (docs/algorithms/live.md).
template <class Survivor>
class survivor_window {
public:
    /// @param grows  the window has no begin, so only the total is kept
    explicit survivor_window(bool grows) : grows_(grows) {}

    /// Adds the next survivor.
    void add(const Survivor& one) {
        if (!grows_) {
            if (one.start > last_end_) meetings_.push_back({added_, taken_});
            survivors_.push_back(one);
        }
        ++added_;
        last_end_ = one.end;
        if (one.start <= last_taken_end_) return;
        last_taken_end_ = one.end;
        ++taken_;
    }
    /// Forgets the first survivors, those for which `is_over` is true.
    template <class Condition>
    void drop_while(Condition is_over) {
        survivors_.drop_while(is_over);
        const std::uint64_t first = added_ - survivors_.size();
        meetings_.drop_while([first](const meeting_point& one) { return one.number < first; });
    }
    std::uint64_t count() const;
    void clear() { *this = survivor_window(grows_); }
    std::size_t size() const { return survivors_.size(); }
    std::span<const Survivor> survivors() const { return survivors_.view(); }
    /// The number added since the beginning.
    std::uint64_t added() const { return added_; }
    std::uint64_t bytes() const {
        return survivors_.size() * sizeof(Survivor) + meetings_.size() * sizeof(meeting_point);
    }

private:
    struct meeting_point {
        std::uint64_t number;  // of the survivor, counted from the first one ever
        std::uint64_t taken_before;
    };

    bool grows_;
    front_queue<Survivor> survivors_{};
    front_queue<meeting_point> meetings_{};
    std::uint64_t added_ = 0;
    std::int64_t last_end_ = INT64_MIN;
    // Those of a count that began with the very first survivor.
    std::int64_t last_taken_end_ = INT64_MIN;
    std::uint64_t taken_ = 0;
};

template <class Survivor>
std::uint64_t survivor_window<Survivor>::count() const {
    if (grows_) return taken_;
    std::size_t meets = size();  // the number of survivors before the first meeting point
    std::uint64_t count = 0;
    if (!meetings_.empty()) {
        const auto& [number, taken_before] = meetings_.front();
        meets = static_cast<std::size_t>(number - (added_ - size()));
        count = taken_ - taken_before;
    }
    std::int64_t last_end = INT64_MIN;
    for (const Survivor& one : survivors().first(meets)) {
        if (one.start <= last_end) continue;
        last_end = one.end;
        ++count;
    }
    return count;
}

}  // namespace spikeweave::episodes
