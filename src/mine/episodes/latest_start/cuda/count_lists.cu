// Counts the non-overlapped occurrences of survivor lists whose survivors overlap in short groups.

#include <algorithm>

#include "mine/episodes/latest_start/cuda/list_tiles.cuh"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"

namespace spikeweave::episodes {
namespace {

using namespace list_tiles;

constexpr std::uint32_t count_tile = 2048;
// The longest group of overlapping survivors that one thread follows.
constexpr std::uint64_t longest_group = 256;

struct count_problem {
    tile_source source;
    const std::uint32_t* ends;
    const std::uint32_t* starts;
    std::uint32_t from;
    list_count* results;
    std::uint32_t* next_tile;
};

// A survivor that starts after the end of the previous survivor is taken whatever was taken before:
// it begins a group. Counts the group's occurrences, earliest end first.
__device__ std::uint32_t count_group(const count_problem& p, const tile_range& range,
                                     std::uint64_t head) {
    std::uint32_t before = p.ends[head];
    std::uint32_t last_end = before;
    std::uint32_t taken = 1;
    std::uint64_t i = head + 1;
    for (; i < range.list_end; ++i) {
        const std::uint32_t start = p.starts[i];
        if (start > before) return taken;
        if (i - head == longest_group) {
            p.results[range.job].dense = 1;
            return taken;
        }
        before = p.ends[i];
        if (start > last_end) {
            ++taken;
            last_end = before;
        }
    }
    p.results[range.job].after_last = last_end + 1;
    return taken;
}

__global__ void __launch_bounds__(threads) count_tiles(const count_problem p) {
    __shared__ tile_range range;
    __shared__ std::uint32_t warp_sums[warps];
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    for (;;) {
        if (warp == 0) take_tile(p.source, p.next_tile, range);
        __syncthreads();
        if (range.none) return;
        std::uint32_t taken = 0;
        for (std::uint64_t i = range.begin + threadIdx.x; i < range.end; i += threads) {
            if (p.ends[i] < p.from) continue;
            const bool head =
                i == range.list_begin || p.ends[i - 1] < p.from || p.starts[i] > p.ends[i - 1];
            if (head) taken += count_group(p, range, i);
        }
        taken = device::warp_sum(taken);
        if (lane == 0) warp_sums[warp] = taken;
        __syncthreads();
        if (warp == 0) {
            const std::uint32_t all = device::warp_sum(lane < warps ? warp_sums[lane] : 0);
            if (lane == 0 && all > 0) atomicAdd(&p.results[range.job].count, all);
        }
        __syncthreads();
    }
}

}  // namespace

std::uint64_t counting_words(std::uint32_t lists) {
    return 1 + plan_words(lists);
}

void count_lists(const list_view& lists, std::uint32_t from, list_count* results,
                 const list_load& load, std::uint64_t* zeroed_words, const device::stream& on) {
    if (lists.count == 0) return;
    tile_source source{lists.begins, nullptr, nullptr, lists.capacity, lists.count, count_tile};
    plan(source, zeroed_words + 1, on);
    constexpr std::uint32_t blocks_each = 8;
    const auto grid = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(static_cast<std::uint32_t>(load.multiprocessors) * blocks_each,
                                most_tiles(load.at_most, lists.count, count_tile)));
    count_tiles<<<grid, threads, 0, on.get()>>>({source, lists.ends, lists.starts, from, results,
                                                 reinterpret_cast<std::uint32_t*>(zeroed_words)});
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::episodes
