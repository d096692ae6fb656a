#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spikeweave/core/ids.hpp"

/// What walks along many spikes need to be fast.
namespace spikeweave::core {

/// The spikes of all units, ascending by time, for a walk along those of one unit that looks at the
/// spikes around each. In a long recording these places lie far apart, so that most of the time
/// went into waiting for memory; they are fetched some spikes ahead.
class near_spikes {
public:
    near_spikes(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
                std::span<const std::uint32_t> positions)
        : times_us_(times_us), units_(units), positions_(positions) {}

    /// Fetches as many spikes before and after a spike of the unit that is still to come.
    /// @param n  number of the spike of the unit that is next
    // Always inlined, because GCC removes calls of a function that only fetches.
    [[gnu::always_inline]] void fetch_ahead(std::size_t n, std::size_t before,
                                            std::size_t after) const {
        constexpr std::size_t ahead = 4;
        constexpr std::size_t most = 256;  // on each side
        constexpr std::size_t line = 64;   // bytes that are fetched at once
        if (n + ahead >= positions_.size()) return;
        const std::size_t at = positions_[n + ahead];
        const std::size_t begin = at - std::min({before, most, at});
        const std::size_t end = std::min(at + std::min(after, most) + 1, times_us_.size());
        for (std::size_t i = begin; i < end; i += line / sizeof(std::int64_t))
            __builtin_prefetch(times_us_.data() + i);
        for (std::size_t i = begin; i < end; i += line / sizeof(unit_id))
            __builtin_prefetch(units_.data() + i);
    }

    /// Calls take(n, i) for the n-th spike of the unit and each spike i of any unit, itself too,
    /// whose lag after it is at least `from_us`, at most 0, and at most `to_us`.
    template <class Take>
    void each(std::int64_t from_us, std::int64_t to_us, const Take& take) const {
        std::size_t before = 0;
        std::size_t after = 0;
        for (std::size_t n = 0; n < positions_.size(); ++n) {
            fetch_ahead(n, before, after);
            const std::size_t at = positions_[n];
            const std::int64_t first = times_us_[at] + from_us;
            const std::int64_t last = times_us_[at] + to_us;
            std::size_t i = at;
            while (i > 0 && times_us_[i - 1] >= first) --i;
            before = at - i;
            for (; i < times_us_.size() && times_us_[i] <= last; ++i) take(n, i);
            after = i - at;
        }
    }

private:
    std::span<const std::int64_t> times_us_;
    std::span<const unit_id> units_;
    std::span<const std::uint32_t> positions_;
};

/// The first place from `at` on for which `holds` is false, at most `size`; it is true up to some
/// place and false from there on. When two trains are merged, the distance is as good as random, so
/// that a loop mispredicts its end nearly each time. A few places are therefore examined at once.
template <class Holds>
std::size_t skip_while(std::size_t at, std::size_t size, const Holds& holds) {
    constexpr std::size_t at_once = 4;
    if (at + at_once <= size) {
        std::size_t true_ones = 0;
        for (std::size_t k = 0; k < at_once; ++k) true_ones += holds(at + k) ? 1 : 0;
        at += true_ones;
        if (true_ones < at_once) return at;
    }
    while (at < size && holds(at)) ++at;
    return at;
}

/// Divides times that are not negative by one number many times: a multiplication with its inverse
/// takes a fraction of a division of integers. Half is added first, so the whole part is exact for
/// quotients of less than 2^52 / (2 `by`), which are those of times of up to decades.
class divisor {
public:
    explicit divisor(std::int64_t by) : inverse_(1 / static_cast<double>(by)) {}

    std::int64_t quotient(std::int64_t of) const {
        return static_cast<std::int64_t>((static_cast<double>(of) + 0.5) * inverse_);
    }

private:
    double inverse_;
};

}  // namespace spikeweave::core
