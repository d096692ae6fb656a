#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace spikeweave::episodes {

/// The delay between two times, the first of which is not later. It does not overflow.
inline std::uint64_t delay_us(std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

/// The stamps of a node: its survivors, each with the place of its latest start and the times of
/// all spikes of that occurrence. Only stamps that a later spike may still need are kept: those
/// that are at most `retain` old, and the one before them.
class stamp_ring {
public:
    /// @param spikes  in an occurrence
    /// @param retain  the largest lower bound of the steps that lead on
    stamp_ring(std::size_t spikes, std::uint64_t retain)
        : width_(spikes + 1),
          retain_(retain),
          mask_(usual_capacity(retain) - 1),
          words_(width_ * (mask_ + 1)) {}

    void clear() { oldest_ = next_; }

    /// The latest stamp from which more than `low` has passed at `time`: the place of the start,
    /// then the times. Empty if there is none.
    std::span<const std::int64_t> latest_before(std::int64_t time, std::uint64_t low) const {
        std::uint64_t first = oldest_;
        std::uint64_t last = next_;
        while (first < last) {
            const std::uint64_t middle = first + (last - first) / 2;
            if (delay_us(end_of(middle), time) > low)
                first = middle + 1;
            else
                last = middle;
        }
        if (first == oldest_) return {};
        return std::span{words_}.subspan(slot(first - 1), width_);
    }

    /// Adds the stamp that continues `prefix`, a stamp of the node before, with a spike at `time`.
    /// Returns whether memory had to be allocated.
    bool push(std::span<const std::int64_t> prefix, std::int64_t time) {
        while (next_ - oldest_ >= 2 && delay_us(end_of(oldest_ + 1), time) > retain_) ++oldest_;
        const bool full = next_ - oldest_ > mask_;
        if (full) grow();
        const std::size_t at = slot(next_++);
        std::copy(prefix.begin(), prefix.end(), words_.begin() + static_cast<std::ptrdiff_t>(at));
        words_[at + width_ - 1] = time;
        return full;
    }

private:
    // Enough for spikes that are a millisecond apart, up to 64 of them. Spikes of a unit are at
    // least a microsecond apart.
    static std::size_t usual_capacity(std::uint64_t retain) {
        return std::bit_ceil(std::min<std::uint64_t>({retain + 2, retain / 1000 + 4, 64}));
    }

    std::size_t slot(std::uint64_t stamp) const { return (stamp & mask_) * width_; }
    std::int64_t end_of(std::uint64_t stamp) const { return words_[slot(stamp) + width_ - 1]; }

    void grow() {
        stamp_ring larger = *this;
        larger.mask_ = 2 * mask_ + 1;
        larger.words_.resize(2 * words_.size());
        for (std::uint64_t stamp = oldest_; stamp < next_; ++stamp)
            std::copy_n(words_.data() + slot(stamp), width_,
                        larger.words_.data() + larger.slot(stamp));
        *this = std::move(larger);
    }

    std::size_t width_;
    std::uint64_t retain_;
    std::uint64_t mask_;  // the capacity, a power of two, less one
    std::vector<std::int64_t> words_;
    std::uint64_t oldest_ = 0;  // stamps are numbered in the order in which they were pushed
    std::uint64_t next_ = 0;
};

}  // namespace spikeweave::episodes
