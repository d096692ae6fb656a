#include "mine/episodes/tracker/survivor_window.hpp"

namespace spikeweave::episodes {
namespace {

// Forgets the elements before `first`. Fewer are moved than go, so each is moved less than once on
// average.
template <class Element>
void drop_front(std::vector<Element>& elements, std::size_t& first) {
    if (first <= elements.size() / 2) return;
    elements.erase(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
}

}  // namespace

void survivor_window::add(std::int64_t start_time, std::int64_t start, std::int64_t end) {
    if (!grows_) {
        if (start > last_end_) meetings_.push_back({number_of_first_ + size(), taken_});
        survivors_.push_back({start_time, start, end});
    }
    last_end_ = end;
    if (start <= last_taken_end_) return;
    last_taken_end_ = end;
    ++taken_;
}

void survivor_window::drop_before(std::int64_t time) {
    while (first_ < survivors_.size() && survivors_[first_].start_time < time) {
        ++first_;
        ++number_of_first_;
    }
    while (first_meeting_ < meetings_.size() && meetings_[first_meeting_].number < number_of_first_)
        ++first_meeting_;
    drop_front(survivors_, first_);
    drop_front(meetings_, first_meeting_);
}

std::uint64_t survivor_window::count() const {
    if (grows_) return taken_;
    std::size_t meets = size();  // how many survivors there are before the first meeting point
    std::uint64_t count = 0;
    if (first_meeting_ < meetings_.size()) {
        const auto& [number, taken_before] = meetings_[first_meeting_];
        meets = static_cast<std::size_t>(number - number_of_first_);
        count = taken_ - taken_before;
    }
    std::int64_t last_end = INT64_MIN;
    for (std::size_t i = first_; i < first_ + meets; ++i) {
        if (survivors_[i].start <= last_end) continue;
        last_end = survivors_[i].end;
        ++count;
    }
    return count;
}

void survivor_window::clear() {
    *this = survivor_window(grows_);
}

}  // namespace spikeweave::episodes
