#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace spikeweave::episodes {

/// The open stamps of one node of a state machine: a queue in a ring that doubles when it is full.
class stamp_list {
public:
    bool empty() const { return head_ == tail_; }
    std::int64_t front() const { return ring_[head_ & mask()]; }
    void pop_front() { ++head_; }
    void clear() { head_ = tail_; }
    void push_back(std::int64_t stamp) {
        if (tail_ - head_ == ring_.size()) grow();
        ring_[tail_++ & mask()] = stamp;
    }

private:
    std::uint32_t mask() const { return static_cast<std::uint32_t>(ring_.size()) - 1; }
    void grow() {
        std::vector<std::int64_t> larger(std::max<std::size_t>(4, 2 * ring_.size()));
        for (std::uint32_t i = head_; i != tail_; ++i) larger[i - head_] = ring_[i & mask()];
        tail_ -= head_;
        head_ = 0;
        ring_ = std::move(larger);
    }

    std::vector<std::int64_t> ring_;
    std::uint32_t head_ = 0;
    std::uint32_t tail_ = 0;
};

}  // namespace spikeweave::episodes
