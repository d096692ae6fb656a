#pragma once

#include <cstdint>
#include <optional>

#include "device/cuda.hpp"
#include "mine/episodes/devices/cuda/timed_stream.hpp"
#include "mine/episodes/devices/event_time.cuh"
#include "mine/episodes/devices/resident_stream.hpp"
#include "published/occurrences/cuda/occurrences.hpp"

/// Lists of partial and complete occurrences in device memory. occurrences.cu describes the
/// algorithm.
namespace spikeweave::episodes::occurrence_lists {

constexpr unsigned threads = 256;
constexpr std::uint32_t none = UINT32_MAX;

// Spikes are given by their indices among all trains.
struct partial {
    std::uint32_t candidate;
    std::uint32_t start;
    std::uint32_t at;
};

struct list_problem {
    resident_trains trains;
    const std::uint32_t* units;   // [candidate * size + node]
    const std::uint32_t* delays;  // [candidate * (size - 1) + node]
    const interval_us* steps;
    const std::uint64_t* starts_before;  // of each candidate, and the total
    std::uint32_t candidates;
    std::uint32_t size;
    bool by_order;  // tie_rule::order

    __device__ std::uint32_t unit(std::uint32_t candidate, std::uint32_t node) const {
        return units[std::uint64_t{candidate} * size + node];
    }
};

// Returns the first spike of a unit for which `is_late` holds; it must hold for all later ones,
// too.
template <class Late>
__device__ std::uint32_t first_late(const resident_trains& trains, std::uint32_t unit,
                                    const Late& is_late) {
    std::uint32_t begin = trains.begin[unit];
    std::uint32_t end = trains.begin[unit + 1];
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (is_late(middle)) {
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    return begin;
}

__device__ inline std::uint32_t first_after(const resident_trains& trains, std::uint32_t unit,
                                            std::int64_t time) {
    return first_late(trains, unit,
                      [&](std::uint32_t spike) { return time_of(trains, unit, spike) > time; });
}

inline unsigned blocks_for(std::uint64_t all) {
    return static_cast<unsigned>(pieces_of(all, threads));
}

struct partial_list {
    device::buffer<partial> of{};
    std::uint32_t size = 0;
};

/// Lists the starts from number `first` on, of all candidates in their order.
partial_list starts_from(const list_problem& problem, std::uint64_t first, std::uint32_t starts,
                         timed_stream& on);

/// Extends occurrences whose last node is `node` by the next one; nothing if there is no room for
/// the result.
std::optional<partial_list> extended(const list_problem& problem, const partial_list& from,
                                     std::uint32_t node, compaction_method how,
                                     const occurrence_capacity& limits, timed_stream& on);

/// The candidates of a list, and what earlier lists gave for all candidates.
struct schedule_state {
    std::uint32_t first_candidate;
    std::uint32_t candidates;
    std::uint64_t* counts;
    std::uint32_t* last_end;  ///< end of the last occurrence taken; `none` before the first
};

/// Schedules complete occurrences greedily, and adds to the counts. The list is in the order of
/// starts.
void schedule_ordered(const list_problem& problem, const partial_list& complete,
                      const schedule_state& to, timed_stream& on);
/// Does the same for a list in any order.
void schedule_sorted(const list_problem& problem, partial_list complete, const schedule_state& to,
                     timed_stream& on);

}  // namespace spikeweave::episodes::occurrence_lists
