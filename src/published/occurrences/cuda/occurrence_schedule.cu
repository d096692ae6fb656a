// Schedules complete occurrences greedily.

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "mine/episodes/devices/plan.hpp"
#include "published/occurrences/cuda/occurrence_lists.cuh"

namespace spikeweave::episodes::occurrence_lists {
namespace {

__device__ std::uint64_t with_candidate(std::uint32_t candidate, std::uint32_t spike) {
    return std::uint64_t{candidate} << 32 | spike;
}

__global__ void __launch_bounds__(threads)
    split_by_start(const partial* __restrict__ list, std::uint32_t size,
                   std::uint64_t* __restrict__ starts, std::uint32_t* __restrict__ ends) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    starts[i] = with_candidate(list[i].candidate, list[i].start);
    ends[i] = list[i].at;
}

__global__ void __launch_bounds__(threads)
    split_by_end(const partial* __restrict__ list, std::uint32_t size,
                 std::uint64_t* __restrict__ ends, std::uint32_t* __restrict__ starts) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    ends[i] = with_candidate(list[i].candidate, list[i].at);
    starts[i] = list[i].start;
}

// Moves the candidates from the ends to the starts.
__global__ void __launch_bounds__(threads)
    exchange(std::uint32_t size, const std::uint64_t* __restrict__ ends_of_candidates,
             const std::uint32_t* __restrict__ starts_alone, std::uint64_t* __restrict__ starts,
             std::uint32_t* __restrict__ ends) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    const std::uint64_t end = ends_of_candidates[i];
    starts[i] = end & ~std::uint64_t{UINT32_MAX} | starts_alone[i];
    ends[i] = static_cast<std::uint32_t>(end);
}

struct larger {
    __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
        return a < b ? b : a;
    }
};

// Occurrences ordered by candidate. Within a candidate, `starts` ascend, and the first of all
// occurrences from a given start on is also the first to end.
struct schedule_problem {
    const std::uint64_t* starts;  // with the candidate in the upper half
    const std::uint32_t* ends;
    std::uint32_t size;

    __device__ std::uint32_t candidate(std::uint32_t i) const {
        return static_cast<std::uint32_t>(starts[i] >> 32);
    }
};

// Returns the candidate's first occurrence from `begin` on that starts at spike `start` or later.
__device__ std::uint32_t first_from(const schedule_problem& s, std::uint32_t begin,
                                    std::uint32_t candidate, std::uint32_t start) {
    const std::uint64_t wanted = with_candidate(candidate, start);
    std::uint32_t end = s.size;
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (s.starts[middle] < wanted) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < s.size && s.candidate(begin) == candidate ? begin : none;
}

// Returns the first spike at which an occurrence may start after one that ended at spike `end`.
__device__ std::uint32_t first_start_after(const list_problem& p, std::uint32_t candidate,
                                           std::uint32_t end) {
    const std::uint32_t unit = p.unit(candidate, 0);
    if (p.by_order) {
        const std::uint32_t position = p.trains.position[end];
        return first_late(p.trains, unit,
                          [&](std::uint32_t spike) { return p.trains.position[spike] > position; });
    }
    return first_after(p.trains, unit, time_of(p.trains, p.unit(candidate, p.size - 1), end));
}

__global__ void __launch_bounds__(threads)
    find_next(const list_problem p, const schedule_problem s, std::uint32_t* __restrict__ next) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= s.size) return;
    const auto one = static_cast<std::uint32_t>(i);
    const std::uint32_t candidate = s.candidate(one);
    next[i] = first_from(s, one + 1, candidate, first_start_after(p, candidate, s.ends[one]));
}

constexpr unsigned tile = 4 * threads;

// For each occurrence: how many are taken before the walk leaves the tile, and where it leads.
__global__ void __launch_bounds__(threads)
    make_tables(std::uint32_t size, const std::uint32_t* __restrict__ next,
                std::uint32_t* __restrict__ exits, std::uint32_t* __restrict__ taken) {
    __shared__ std::uint32_t to[tile];
    __shared__ std::uint32_t count[tile];
    const std::uint32_t begin = blockIdx.x * tile;
    const std::uint32_t here = min(tile, size - begin);
    for (unsigned i = threadIdx.x; i < tile; i += threads) {
        to[i] = i < here ? next[begin + i] : none;
        count[i] = 1;
    }
    __syncthreads();
    for (unsigned reach = 1; reach < tile; reach *= 2) {
        std::uint32_t further[tile / threads];
        std::uint32_t more[tile / threads];
#pragma unroll
        for (unsigned k = 0; k < tile / threads; ++k) {
            const std::uint32_t at = to[threadIdx.x + k * threads];
            const bool inside = at != none && at - begin < here;
            further[k] = inside ? to[at - begin] : at;
            more[k] = inside ? count[at - begin] : 0;
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < tile / threads; ++k) {
            to[threadIdx.x + k * threads] = further[k];
            count[threadIdx.x + k * threads] += more[k];
        }
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < here; i += threads) {
        exits[begin + i] = to[i];
        taken[begin + i] = count[i];
    }
}

// `last_end`: the end of the last occurrence taken in earlier lists.
__global__ void __launch_bounds__(threads)
    schedule(const list_problem p, const schedule_problem s, std::uint32_t first_candidate,
             std::uint32_t candidates, const std::uint32_t* __restrict__ next,
             const std::uint32_t* __restrict__ exits, const std::uint32_t* __restrict__ taken,
             std::uint64_t* __restrict__ counts, std::uint32_t* __restrict__ last_end) {
    const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
    if (i >= candidates) return;
    const std::uint32_t candidate = first_candidate + i;
    const std::uint32_t before = last_end[candidate];
    std::uint32_t at =
        first_from(s, 0, candidate, before == none ? 0 : first_start_after(p, candidate, before));
    if (at == none) return;
    std::uint64_t count = 0;
    std::uint32_t last = at;
    while (at != none) {
        count += taken[at];
        last = at;
        at = exits[at];
    }
    while (next[last] != none) last = next[last];
    counts[candidate] += count;
    last_end[candidate] = s.ends[last];
}

void schedule_list(const list_problem& p, const schedule_problem& s, const schedule_state& to,
                   timed_stream& on) {
    const device::buffer<std::uint32_t> next(s.size, on.stream());
    const device::buffer<std::uint32_t> exits(s.size, on.stream());
    const device::buffer<std::uint32_t> taken(s.size, on.stream());
    on.run([&] {
        find_next<<<blocks_for(s.size), threads, 0, on.get()>>>(p, s, next.data());
        make_tables<<<static_cast<unsigned>(pieces_of(s.size, tile)), threads, 0, on.get()>>>(
            s.size, next.data(), exits.data(), taken.data());
        schedule<<<blocks_for(to.candidates), threads, 0, on.get()>>>(
            p, s, to.first_candidate, to.candidates, next.data(), exits.data(), taken.data(),
            to.counts, to.last_end);
    });
}

}  // namespace

void schedule_ordered(const list_problem& p, const partial_list& complete, const schedule_state& to,
                      timed_stream& on) {
    const device::buffer<std::uint64_t> begins(complete.size, on.stream());
    const device::buffer<std::uint32_t> ends(complete.size, on.stream());
    on.run([&] {
        split_by_start<<<blocks_for(complete.size), threads, 0, on.get()>>>(
            complete.of.data(), complete.size, begins.data(), ends.data());
    });
    schedule_list(p, {begins.data(), ends.data(), complete.size}, to, on);
}

void schedule_sorted(const list_problem& p, partial_list complete, const schedule_state& to,
                     timed_stream& on) {
    const std::uint32_t size = complete.size;
    const device::buffer<std::uint64_t> keys(size, on.stream());
    const device::buffer<std::uint64_t> sorted_keys(size, on.stream());
    const device::buffer<std::uint32_t> values(size, on.stream());
    const device::buffer<std::uint32_t> sorted_values(size, on.stream());
    on.run([&] {
        split_by_end<<<blocks_for(size), threads, 0, on.get()>>>(complete.of.data(), size,
                                                                 keys.data(), values.data());
    });
    complete = {};
    const int bits = 32 + static_cast<int>(std::bit_width(p.candidates));
    on.run_with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(space, bytes, keys.data(), sorted_keys.data(),
                                               values.data(), sorted_values.data(), size, 0, bits,
                                               on.get());
    });
    on.run([&] {
        exchange<<<blocks_for(size), threads, 0, on.get()>>>(
            size, sorted_keys.data(), sorted_values.data(), keys.data(), values.data());
    });
    on.run_with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScan(space, bytes, keys.data(), sorted_keys.data(),
                                              larger{}, size, on.get());
    });
    schedule_list(p, {sorted_keys.data(), values.data(), size}, to, on);
}

}  // namespace spikeweave::episodes::occurrence_lists
