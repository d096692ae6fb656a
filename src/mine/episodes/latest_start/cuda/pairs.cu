// Counts all pairs of units if units seldom fire close together. One sweep over the spikes of each
// target unit looks back over the interval from each spike and counts greedily in a table of (pair,
// interval) in shared memory. Pairs that never fire within the interval cost nothing.
//
// Any start later than the last end completes an occurrence that ends at the current spike. All
// occurrences found for one spike end at this spike, so their order does not matter and the lanes
// of a warp may process them at once: lanes of the same pair write the same value.
//
// A sweep may be cut before any spike that no other spike of its target precedes within the
// interval. All spikes that this one looks back on are after every earlier end, so nothing before
// the cut matters. A sweep is sequential, so a device is kept busy by cutting it. Where spikes are
// too close for a cut, the piece before continues.
//
//   work per warp     a piece of one target's spikes, with all before them within one interval
//   shared memory     6 bytes a pair, 8 when a unit has 2^16 spikes or more
// pays off for many units if few spikes of any two are within an interval

#include <algorithm>
#include <vector>

#include "core/stop.hpp"
#include "device/warp.cuh"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/latest_start/cuda/pairs.hpp"

namespace spikeweave::episodes {
namespace {

using device::whole_warp;
constexpr std::uint32_t pair_warps = 4;
constexpr std::uint32_t pair_threads = pair_warps * 32;
// Pairs in the table of one warp: with 6 KB of them, nine blocks share a multiprocessor.
constexpr std::uint32_t most_from_units = 1024;
constexpr std::uint32_t not_wanted = UINT32_MAX;

struct look_back_problem {
    resident_events events;
    resident_trains trains;
    train_layout event_layout;
    const std::uint32_t* event_buckets;
    const interval_32* intervals;
    const std::uint32_t* number_of;  // index of each unit among the wanted ones
    const std::uint32_t* wanted;     // units
    std::uint32_t wanted_count;
    std::uint32_t interval_count;
    std::uint32_t from_units;  // number of units in one table
    std::uint32_t first_to;
    bool by_time;  // tie_rule::time
    std::uint32_t*
        counts;  // [(target * intervals + interval) * wanted + from]; 0 before the launch
};

// Index of the first event at or after a time that lies `delay` before `time`.
__device__ std::uint32_t first_within(const searched_train& all, std::uint32_t time,
                                      std::uint32_t delay) {
    return time > delay ? all.first_after(time - delay - 1) : 0;
}

// Index of the first spike of a train at or after `at` before which it can be cut, because no other
// spike is within `high` before it. All lanes of a warp must call this with the same arguments.
__device__ std::uint32_t first_cut(const std::uint32_t* times, std::uint32_t train_begin,
                                   std::uint32_t train_end, std::uint32_t at, std::uint32_t high) {
    if (at == train_begin) return at;
    for (std::uint32_t base = at; base < train_end; base += 32) {
        const std::uint32_t i = base + threadIdx.x % 32;
        const unsigned cuts =
            __ballot_sync(whole_warp, i < train_end && times[i] - times[i - 1] > high);
        if (cuts != 0) return base + __ffs(static_cast<int>(cuts)) - 1;
    }
    return train_end;
}

// Spikes [begin, end) of a target, and the first units of the pairs that a warp counts.
struct look_back_part {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t from_begin;
    std::uint32_t from_count;
};

// Counts the pairs that end in a part of a target's train. Called by a whole warp.
template <class Count>
__device__ __forceinline__ void count_part(const look_back_problem& p, const searched_train& all,
                                           const interval_32& step, const look_back_part& part,
                                           std::uint32_t* free_from, Count* count) {
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint32_t base = part.begin; base < part.end; base += 32) {
        // Each lane finds the range of one spike; then all lanes read it, spike by spike.
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        std::uint32_t behind_end = 0;
        if (base + lane < part.end) {
            const std::uint32_t time = p.trains.time_low[base + lane];
            first = first_within(all, time, step.high);
            last = first_within(all, time, step.low);
            behind_end = (p.by_time ? time : p.trains.position[base + lane]) + 1;
        }
        const std::uint32_t spikes = min(32U, part.end - base);
        for (std::uint32_t spike = 0; spike < spikes; ++spike) {
            const std::uint32_t begin = __shfl_sync(whole_warp, first, spike);
            const std::uint32_t end = __shfl_sync(whole_warp, last, spike);
            const std::uint32_t behind = __shfl_sync(whole_warp, behind_end, spike);
            for (std::uint32_t at = begin; at < end; at += 32) {
                const std::uint32_t event = at + lane;
                std::uint32_t from = not_wanted;
                Count more = 0;
                bool completes = false;
                if (event < end) {
                    from = p.number_of[p.events.unit[event]] - part.from_begin;
                    if (from < part.from_count) {
                        more = static_cast<Count>(count[from] + 1);
                        completes =
                            (p.by_time ? p.events.time_low[event] : event) >= free_from[from];
                    }
                }
                __syncwarp();
                if (completes) {
                    free_from[from] = behind;
                    count[from] = more;
                }
                __syncwarp();
            }
        }
    }
}

// x: targets; y: groups of `pair_warps` slices, each an interval with a range of first units; z:
// pieces of the target's train. Pieces of the same time run together and share what they read.
template <class Count>
__global__ void __launch_bounds__(pair_threads) look_back(const look_back_problem p) {
    extern __shared__ std::uint32_t tables[];
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t slice = blockIdx.y * pair_warps + threadIdx.x / 32;
    const std::uint32_t interval = slice % p.interval_count;
    const std::uint32_t from_begin = slice / p.interval_count * p.from_units;
    if (from_begin >= p.wanted_count) return;
    const std::uint32_t from_count = min(p.from_units, p.wanted_count - from_begin);
    const interval_32 step = p.intervals[interval];
    const std::uint32_t to = p.wanted[p.first_to + blockIdx.x];
    const std::uint32_t train_begin = p.trains.begin[to];
    const std::uint32_t train_end = p.trains.begin[to + 1];
    const auto cut = [&](std::uint64_t piece) {
        const std::uint64_t wished = (train_end - train_begin) * piece / gridDim.z;
        return first_cut(p.trains.time_low, train_begin, train_end,
                         train_begin + static_cast<std::uint32_t>(wished), step.high);
    };
    const std::uint32_t piece_begin = cut(blockIdx.z);
    if (piece_begin == train_end) return;
    const std::uint32_t piece_end =
        blockIdx.z + 1 == gridDim.z ? train_end : cut(std::uint64_t{blockIdx.z} + 1);
    if (piece_begin == piece_end) return;
    // For each pair: where its next occurrence may start, and its count.
    std::uint32_t* const free_from = tables + threadIdx.x / 32 * p.from_units;
    Count* const count = reinterpret_cast<Count*>(tables + pair_warps * p.from_units) +
                         threadIdx.x / 32 * p.from_units;
    for (std::uint32_t i = lane; i < from_count; i += 32) {
        free_from[i] = 0;
        count[i] = 0;
    }
    __syncwarp();

    const searched_train all{p.events.time_low, p.event_buckets, p.event_layout.size,
                             p.event_layout.bucket_count, p.event_layout.shift};
    count_part(p, all, step, {piece_begin, piece_end, from_begin, from_count}, free_from, count);
    std::uint32_t* const counts =
        p.counts + (std::uint64_t{blockIdx.x} * p.interval_count + interval) * p.wanted_count +
        from_begin;
    for (std::uint32_t i = lane; i < from_count; i += 32) {
        if (count[i] != 0) atomicAdd(&counts[i], std::uint32_t{count[i]});
    }
}

struct pick_problem {
    const std::uint32_t* counts;
    std::uint64_t size;
    std::uint32_t wanted_count;
    std::uint32_t interval_count;
    std::uint32_t first_to;
    std::uint32_t at_least;
    std::uint64_t capacity;
};

__global__ void __launch_bounds__(256)
    pick_pairs(const pick_problem p, counted_pair* __restrict__ picked,
               unsigned long long* __restrict__ found) {
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint64_t base = std::uint64_t{blockIdx.x} * 256; base < p.size;
         base += std::uint64_t{gridDim.x} * 256) {
        const std::uint64_t i = base + threadIdx.x;
        const std::uint32_t count = i < p.size ? p.counts[i] : 0;
        const bool frequent = i < p.size && count >= p.at_least;
        const unsigned all = __ballot_sync(whole_warp, frequent);
        unsigned long long at = 0;
        if (lane == 0 && all != 0)
            at = atomicAdd(found, static_cast<unsigned long long>(__popc(all)));
        at = __shfl_sync(whole_warp, at, 0) + __popc(all & ((1U << lane) - 1));
        if (!frequent || at >= p.capacity) continue;
        const std::uint64_t row = i / p.wanted_count;
        picked[at] = {static_cast<std::uint32_t>(i % p.wanted_count),
                      static_cast<std::uint32_t>(row % p.interval_count),
                      static_cast<std::uint32_t>(p.first_to + row / p.interval_count), count};
    }
}

std::uint32_t longest_train(const device_problem& problem) {
    const auto begins = problem.data.train_begins();
    std::uint32_t longest = 0;
    for (std::size_t u = 0; u + 1 < begins.size(); ++u)
        longest = std::max(longest, begins[u + 1] - begins[u]);
    return longest;
}

std::vector<counted_pair> picked(pick_problem problem, const device::stream& on,
                                 device::stopwatch& watch, double& kernel_seconds) {
    problem.capacity = std::min<std::uint64_t>(problem.size, std::uint64_t{1} << 20);
    for (;;) {
        device::buffer<counted_pair> pairs(problem.capacity, on);
        device::buffer<unsigned long long> found(1, on);
        found.fill(0);
        const auto grid =
            static_cast<unsigned>(std::min<std::uint64_t>(pieces_of(problem.size, 256), 4096));
        watch.start(on);
        pick_pairs<<<grid, 256, 0, on.get()>>>(problem, pairs.data(), found.data());
        device::check(cudaGetLastError());
        watch.stop(on);
        const std::uint64_t all = found.downloaded()[0];
        kernel_seconds += watch.seconds();
        if (all <= problem.capacity) {
            std::vector<counted_pair> here(all);
            pairs.download(here);
            on.wait();
            return here;
        }
        problem.capacity = all;
    }
}

// The units of pairs in device memory, and the number of each unit among them.
struct wanted_units {
    device::buffer<std::uint32_t> number_of{};
    device::buffer<std::uint32_t> units{};

    wanted_units(std::span<const unit_id> wanted, std::size_t unit_count,
                 const device::stream& on) {
        std::vector<std::uint32_t> numbers(unit_count, not_wanted);
        std::vector<std::uint32_t> indices;
        indices.reserve(wanted.size());
        for (const unit_id unit : wanted) {
            numbers[to_index(unit)] = static_cast<std::uint32_t>(indices.size());
            indices.push_back(static_cast<std::uint32_t>(to_index(unit)));
        }
        number_of = {numbers, on};
        units = {indices, on};
    }
};

// Counts have 16 bits if no train is longer.
void launch(const look_back_problem& p, const dim3& grid, std::uint32_t longest,
            const device::stream& on) {
    if (longest <= UINT16_MAX) {
        look_back<std::uint16_t>
            <<<grid, pair_threads, pair_warps * p.from_units * 6, on.get()>>>(p);
    } else {
        look_back<std::uint32_t>
            <<<grid, pair_threads, pair_warps * p.from_units * 8, on.get()>>>(p);
    }
    device::check(cudaGetLastError());
}

}  // namespace

std::vector<counted_pair> look_back_on_device(const device_problem& problem,
                                              const interval_32* intervals,
                                              std::span<const unit_id> units, std::size_t first_to,
                                              std::size_t last_to, std::uint64_t at_least,
                                              const device::device_limits& limits,
                                              const device::stream& on, double& kernel_seconds) {
    if (at_least > UINT32_MAX || first_to == last_to) return {};
    const wanted_units wanted(units, problem.spikes.unit_count(), on);
    const resident_search search = problem.data.search();
    const auto count = static_cast<std::uint32_t>(units.size());
    const auto interval_count = static_cast<std::uint32_t>(problem.intervals.size());
    const std::uint32_t from_units = std::min(most_from_units, count);
    const std::uint64_t slices = pieces_of(count, from_units) * interval_count;
    const std::uint32_t longest = longest_train(problem);
    look_back_problem kernel{problem.data.events(),
                             problem.data.trains(),
                             search.events,
                             search.event_buckets,
                             intervals,
                             wanted.number_of.data(),
                             wanted.units.data(),
                             count,
                             interval_count,
                             from_units,
                             0,
                             problem.ties == tie_rule::time,
                             nullptr};

    // Takes as many targets at once as memory for their counts allows.
    const std::uint64_t row = std::uint64_t{interval_count} * count;
    const std::uint64_t most =
        std::clamp<std::uint64_t>(work_space_bytes(limits) / 4 / (row * 4), 1, last_to - first_to);
    device::buffer<std::uint32_t> counts(row * most, on);
    kernel.counts = counts.data();
    device::stopwatch watch;
    std::vector<counted_pair> found;
    for (std::size_t to = first_to; to < last_to; to += most) {
        core::throw_if_stopped(problem.run.stop);
        const auto targets =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(most, last_to - to));
        kernel.first_to = static_cast<std::uint32_t>(to);
        const dim3 grid(targets, static_cast<unsigned>(pieces_of(slices, pair_warps)),
                        pieces_of_sweeps(targets * slices, longest, limits));
        watch.start(on);
        counts.fill(0);
        launch(kernel, grid, longest, on);
        watch.stop(on);
        on.wait();
        kernel_seconds += watch.seconds();
        const auto some = picked({counts.data(), row * targets, count, interval_count,
                                  kernel.first_to, static_cast<std::uint32_t>(at_least), 0},
                                 on, watch, kernel_seconds);
        found.insert(found.end(), some.begin(), some.end());
    }
    return found;
}

}  // namespace spikeweave::episodes
