#pragma once

#include <algorithm>
#include <cstddef>
#include <stop_token>

#include "spikeweave/core/error.hpp"

namespace spikeweave::core {

/// Throws `cancelled` if a stop was requested. Long loops call it every few milliseconds.
inline void throw_if_stopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw cancelled();
}

/// Checks only once in 256 steps, for loops whose steps take less than a millisecond.
inline void stop_at_times(std::size_t step, const std::stop_token& stop) {
    if (step % 256 == 0) throw_if_stopped(stop);
}

/// `std::sort` that a stop ends. Some of the items may then be moved from.
/// @throws cancelled
template <class Iterator, class Less>
void sort_unless_stopped(Iterator begin, Iterator end, Less less, const std::stop_token& stop) {
    std::size_t comparisons = 0;
    std::sort(begin, end, [&](const auto& a, const auto& b) {
        stop_at_times(++comparisons, stop);
        return less(a, b);
    });
}

}  // namespace spikeweave::core
