#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spikeweave::episodes {

/// The survivors of an episode in a window that moves on, and how many of their occurrences there
/// are without overlap. Places are times, or positions in the stream.
///
/// A meeting point is a survivor that starts after the end of the one before it. Whichever survivor
/// a count begins with, it takes every meeting point behind it, so the rest of the count is a
/// difference of totals (docs/algorithms/live.md).
class survivor_window {
public:
    /// @param grows  the window has no begin, so only the total is kept
    explicit survivor_window(bool grows) : grows_(grows) {}

    /// Adds the next survivor: the time and the place of its latest start, and the place of its
    /// end.
    void add(std::int64_t start_time, std::int64_t start, std::int64_t end);
    /// Forgets the survivors that start before this time.
    void drop_before(std::int64_t time);
    std::uint64_t count() const;
    void clear();
    std::size_t size() const { return survivors_.size() - first_; }

private:
    struct survivor {
        std::int64_t start_time;
        std::int64_t start;
        std::int64_t end;
    };
    struct meeting_point {
        std::uint64_t number;  // of the survivor, counted from the first one ever
        std::uint64_t taken_before;
    };

    bool grows_;
    std::vector<survivor> survivors_{};  // those before `first_` are forgotten
    std::size_t first_ = 0;
    std::uint64_t number_of_first_ = 0;
    std::vector<meeting_point> meetings_{};
    std::size_t first_meeting_ = 0;
    std::int64_t last_end_ = INT64_MIN;
    // Of a count that began with the first survivor ever.
    std::int64_t last_taken_end_ = INT64_MIN;
    std::uint64_t taken_ = 0;
};

}  // namespace spikeweave::episodes
