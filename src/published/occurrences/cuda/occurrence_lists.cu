// Extends occurrences by a node, by three ways to write results of different lengths to one list.

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <vector>

#include "mine/episodes/devices/plan.hpp"
#include "published/occurrences/cuda/occurrence_lists.cuh"

namespace spikeweave::episodes::occurrence_lists {
namespace {

struct matches {
    std::uint32_t first;
    std::uint32_t count;
};

// The spikes that can follow a partial occurrence whose last node is `node`.
__device__ matches matches_of(const list_problem& p, std::uint32_t node, const partial& one) {
    const std::uint32_t to = p.unit(one.candidate, node + 1);
    const interval_us step = p.steps[p.delays[std::uint64_t{one.candidate} * (p.size - 1) + node]];
    const std::int64_t time = time_of(p.trains, p.unit(one.candidate, node), one.at);
    const std::uint32_t first = first_after(p.trains, to, time + step.low);
    return {first, first_after(p.trains, to, time + step.high) - first};
}

// Lists all starts, candidate by candidate, from number `first` on.
__global__ void __launch_bounds__(threads)
    begin_list(const list_problem p, std::uint64_t first, std::uint32_t size,
               partial* __restrict__ to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    std::uint32_t candidate = 0;
    for (std::uint32_t end = p.candidates; end - candidate > 1;) {
        const std::uint32_t middle = candidate + (end - candidate) / 2;
        if (p.starts_before[middle] <= first + i) {
            candidate = middle;
        } else {
            end = middle;
        }
    }
    const std::uint32_t start = p.trains.begin[p.unit(candidate, 0)] +
                                static_cast<std::uint32_t>(first + i - p.starts_before[candidate]);
    to[i] = {candidate, start, start};
}

__global__ void __launch_bounds__(threads)
    count_matches(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
                  std::uint32_t size, std::uint64_t* __restrict__ counts) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < size) counts[i] = matches_of(p, node, list[i]).count;
    if (i == size) counts[i] = 0;
}

__global__ void __launch_bounds__(threads)
    write_matches(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
                  std::uint32_t size, const std::uint64_t* __restrict__ offsets,
                  partial* __restrict__ to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    const partial one = list[i];
    const matches found = matches_of(p, node, one);
    for (std::uint32_t k = 0; k < found.count; ++k)
        to[offsets[i] + k] = {one.candidate, one.start, found.first + k};
}

// `total` keeps counting beyond `capacity`.
__global__ void __launch_bounds__(threads)
    append_matches(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
                   std::uint32_t size, std::uint64_t capacity,
                   unsigned long long* __restrict__ total, partial* __restrict__ to) {
    __shared__ unsigned long long in_block;
    __shared__ unsigned long long begin;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    partial one{};
    matches found{};
    unsigned long long offset = 0;
    if (i < size) {
        one = list[i];
        found = matches_of(p, node, one);
        if (found.count > 0) offset = atomicAdd(&in_block, std::uint64_t{found.count});
    }
    __syncthreads();
    if (threadIdx.x == 0 && in_block > 0) begin = atomicAdd(total, in_block);
    __syncthreads();
    for (std::uint32_t k = 0; k < found.count && begin + offset + k < capacity; ++k)
        to[begin + offset + k] = {one.candidate, one.start, found.first + k};
}

// Thread i has the slots from i * slots on; `most` is the largest number of slots that a thread
// needs.
__global__ void __launch_bounds__(threads)
    fill_slots(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
               std::uint32_t size, std::uint32_t slots, std::uint32_t* __restrict__ most,
               partial* __restrict__ to, unsigned char* __restrict__ taken) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    const partial one = list[i];
    const matches found = matches_of(p, node, one);
    if (found.count > slots) atomicMax(most, found.count);
    for (std::uint32_t k = 0; k < slots; ++k) {
        const bool is_taken = k < found.count;
        taken[i * slots + k] = is_taken;
        to[i * slots + k] =
            is_taken ? partial{one.candidate, one.start, found.first + k} : partial{};
    }
}

std::optional<partial_list> by_atomics(const list_problem& p, const partial_list& from,
                                       std::uint32_t node, const occurrence_capacity& limits,
                                       timed_stream& on) {
    const device::buffer<unsigned long long> total(1, on.stream());
    std::uint64_t capacity =
        std::min(limits.most_occurrences, std::uint64_t{from.size} * limits.first_ways);
    for (;;) {
        partial_list to{{capacity, on.stream()}};
        device::check(cudaMemsetAsync(total.data(), 0, sizeof(unsigned long long), on.get()));
        on.run([&] {
            append_matches<<<blocks_for(from.size), threads, 0, on.get()>>>(
                p, node, from.of.data(), from.size, capacity, total.data(), to.of.data());
        });
        const std::uint64_t needed = total.downloaded().front();
        if (needed > limits.most_occurrences) return std::nullopt;
        if (needed <= capacity) {
            to.size = static_cast<std::uint32_t>(needed);
            return to;
        }
        capacity = needed;
    }
}

// Extends `size` partial occurrences. If a thread needs more than `slots`, sets `slots` to the
// number needed and returns an empty list.
partial_list selected(const list_problem& p, const partial* from, std::uint32_t size,
                      std::uint32_t node, std::uint32_t& slots, timed_stream& on) {
    const std::uint64_t all = std::uint64_t{size} * slots;
    const device::buffer<partial> filled(all, on.stream());
    const device::buffer<unsigned char> taken(all, on.stream());
    device::buffer<std::uint32_t> most(1, on.stream());
    most.fill(0);
    on.run([&] {
        fill_slots<<<blocks_for(size), threads, 0, on.get()>>>(
            p, node, from, size, slots, most.data(), filled.data(), taken.data());
    });
    const std::uint32_t needed = most.downloaded().front();
    if (needed > slots) {
        slots = needed;
        return {};
    }
    partial_list to{{all, on.stream()}};
    const device::buffer<std::uint64_t> count(1, on.stream());
    on.run_with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(space, bytes, filled.data(), taken.data(), to.of.data(),
                                          count.data(), static_cast<std::int64_t>(all), on.get());
    });
    to.size = static_cast<std::uint32_t>(count.downloaded().front());
    return to;
}

void append(partial_list& to, const partial_list& more, const timed_stream& on) {
    if (more.size == 0) return;
    device::check(cudaMemcpyAsync(to.of.data() + to.size, more.of.data(),
                                  more.size * sizeof(partial), cudaMemcpyDeviceToDevice, on.get()));
    to.size += more.size;
}

std::optional<partial_list> by_select(const list_problem& p, const partial_list& from,
                                      std::uint32_t node, const occurrence_capacity& limits,
                                      timed_stream& on) {
    std::uint32_t slots = limits.first_ways;
    std::vector<partial_list> pieces;
    std::uint64_t all = 0;
    for (std::uint32_t begin = 0; begin < from.size;) {
        const auto size = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(limits.most_occurrences / slots, 1, from.size - begin));
        const std::uint32_t slots_before = slots;
        partial_list piece = selected(p, from.of.data() + begin, size, node, slots, on);
        if (slots != slots_before) continue;
        begin += size;
        all += piece.size;
        if (all > limits.most_occurrences) return std::nullopt;
        if (size == from.size) return piece;
        // The copy drops the memory of slots that were not taken.
        partial_list& kept = pieces.emplace_back(partial_list{{piece.size, on.stream()}});
        append(kept, piece, on);
    }
    partial_list whole{{all, on.stream()}};
    for (const partial_list& piece : pieces) append(whole, piece, on);
    return whole;
}

std::optional<partial_list> by_counts(const list_problem& p, const partial_list& from,
                                      std::uint32_t node, const occurrence_capacity& limits,
                                      timed_stream& on) {
    const device::buffer<std::uint64_t> counts(std::size_t{from.size} + 1, on.stream());
    const device::buffer<std::uint64_t> offsets(std::size_t{from.size} + 1, on.stream());
    on.run([&] {
        count_matches<<<blocks_for(counts.size()), threads, 0, on.get()>>>(
            p, node, from.of.data(), from.size, counts.data());
    });
    on.run_with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(space, bytes, counts.data(), offsets.data(),
                                             static_cast<std::int64_t>(counts.size()), on.get());
    });
    std::vector<std::uint64_t> needed(1);
    offsets.download(needed, from.size);
    on.stream().wait();
    if (needed.front() > limits.most_occurrences) return std::nullopt;
    partial_list to{{needed.front(), on.stream()}, static_cast<std::uint32_t>(needed.front())};
    on.run([&] {
        write_matches<<<blocks_for(from.size), threads, 0, on.get()>>>(
            p, node, from.of.data(), from.size, offsets.data(), to.of.data());
    });
    return to;
}

}  // namespace

partial_list starts_from(const list_problem& p, std::uint64_t first, std::uint32_t starts,
                         timed_stream& on) {
    partial_list list{{starts, on.stream()}, starts};
    on.run([&] {
        begin_list<<<blocks_for(starts), threads, 0, on.get()>>>(p, first, starts, list.of.data());
    });
    return list;
}

std::optional<partial_list> extended(const list_problem& p, const partial_list& from,
                                     std::uint32_t node, compaction_method how,
                                     const occurrence_capacity& limits, timed_stream& on) {
    if (how == compaction_method::atomic) return by_atomics(p, from, node, limits, on);
    return how == compaction_method::select ? by_select(p, from, node, limits, on)
                                            : by_counts(p, from, node, limits, on);
}

}  // namespace spikeweave::episodes::occurrence_lists
