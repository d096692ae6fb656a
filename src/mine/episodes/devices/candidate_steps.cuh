#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mine/episodes/devices/event_time.cuh"
#include "mine/episodes/devices/resident_stream.hpp"
#include "mine/episodes/search/counters.hpp"

/// Candidates in the form that kernels read. `Stamp`, a time since the first spike, is 32 bits wide
/// for recordings below 71 minutes and 64 bits for longer ones.
namespace spikeweave::episodes {

template <class Stamp>
struct step_of {
    Stamp low;
    Stamp high;
};

template <class Stamp>
__device__ Stamp stamp_of(const resident_events& events, std::uint32_t spike) {
    if constexpr (sizeof(Stamp) == sizeof(std::uint32_t)) {
        return events.time_low[spike];
    } else {
        return static_cast<Stamp>(time_of(events, spike));
    }
}

// Bounds beyond the range of a stamp are equivalent to the largest one: no delay is longer.
template <class Stamp>
std::vector<step_of<Stamp>> steps_of(const counting_problem& problem) {
    constexpr auto most = static_cast<std::int64_t>(
        std::min<std::uint64_t>(std::numeric_limits<Stamp>::max(), INT64_MAX));
    std::vector<step_of<Stamp>> steps;
    steps.reserve(problem.intervals.size());
    for (const interval_us& one : problem.intervals)
        steps.push_back({static_cast<Stamp>(std::min(one.low, most)),
                         static_cast<Stamp>(std::min(one.high, most))});
    return steps;
}

inline std::vector<std::uint32_t> plain(std::span<const unit_id> units) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(units.size());
    for (const unit_id unit : units) numbers.push_back(static_cast<std::uint32_t>(unit));
    return numbers;
}

}  // namespace spikeweave::episodes
