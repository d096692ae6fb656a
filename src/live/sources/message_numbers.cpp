#include "live/sources/message_numbers.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::live {

message_place message_numbers::observe(std::uint64_t number, bool after_break) {
    if (std::exchange(is_first_, false)) {
        restart(number);
        return message_place::next;
    }
    const auto impossible = std::exchange(impossible_, std::nullopt);
    if (number > expected_ && number - expected_ > most_missing) {
        if (impossible && number - *impossible == 1) {
            ++counts_.restarts;
            restart(number);
            return message_place::restarted;
        }
        impossible_ = number;
        return message_place::impossible;
    }
    if (number >= expected_) {
        const std::uint64_t missing = number - expected_;
        counts_.missing += missing;
        follow(number);
        return missing > 0 ? message_place::after_gap : message_place::next;
    }
    const std::uint64_t back = expected_ - number;
    if (back > memory || after_break) {
        ++counts_.restarts;
        restart(number);
        return message_place::restarted;
    }
    if (back > came_.size()) {
        // It was sent before the first one that came, and so were those between the two.
        const std::uint64_t missing = back - came_.size() - 1;
        came_.insert(came_.begin(), missing, false);
        came_.push_front(true);
        counts_.missing += missing;
    } else if (std::exchange(came_[came_.size() - back], true)) {
        ++counts_.repeated;
        return message_place::repeated;
    } else {
        --counts_.missing;
    }
    ++counts_.received;
    ++counts_.belated;
    return message_place::belated;
}

void message_numbers::restart(std::uint64_t number) {
    came_.clear();
    expected_ = number;
    follow(number);
}

void message_numbers::follow(std::uint64_t number) {
    const std::uint64_t missing = std::min(number - expected_, memory);
    came_.insert(came_.end(), missing, false);
    came_.push_back(true);
    while (came_.size() > memory) came_.pop_front();
    expected_ = number + 1;
    ++counts_.received;
}

}  // namespace spikeweave::live
