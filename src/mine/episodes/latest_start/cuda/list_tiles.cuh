#pragma once

#include <cstdint>

#include "device/cuda.hpp"
#include "device/warp.cuh"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"

/// Survivor lists as tiles, so that long and short lists keep all blocks equally busy. A block
/// takes the next tile, so a tile never waits for one that has not started.
namespace spikeweave::episodes::list_tiles {

using device::whole_warp;
constexpr std::uint32_t threads = 256;
constexpr std::uint32_t warps = threads / 32;

struct tile_source {
    const std::uint64_t* begins;  // first item of each list
    const extension* jobs;        // null: job i is list i
    const std::uint32_t*
        tile_begins;  // first tile of each job, and the number of tiles; null for few jobs
    std::uint64_t capacity;
    std::uint32_t job_count;
    std::uint32_t tile_items;
};

struct tile_range {
    std::uint64_t list_begin;
    std::uint64_t list_end;
    std::uint64_t begin;  // first item of the tile in the array of all lists
    std::uint64_t end;
    std::uint32_t job;
    bool first;  // first tile of its job
    bool last;   // last tile of all
    bool none;   // there is no such tile
};

__device__ inline std::uint64_t list_begin_of(const tile_source& s, std::uint32_t job) {
    const std::uint32_t list = s.jobs == nullptr ? job : s.jobs[job].parent;
    return min(s.begins[list], s.capacity);
}

__device__ inline std::uint64_t list_end_of(const tile_source& s, std::uint32_t job) {
    const std::uint32_t list = s.jobs == nullptr ? job : s.jobs[job].parent;
    return min(s.begins[list + 1], s.capacity);
}

// An empty list also has one tile, which writes the position of the list.
__device__ inline std::uint32_t tiles_of(const tile_source& s, std::uint32_t job) {
    const std::uint64_t size = list_end_of(s, job) - list_begin_of(s, job);
    return max(1U, static_cast<std::uint32_t>((size + s.tile_items - 1) / s.tile_items));
}

// Finds a tile. Called by a whole warp.
__device__ inline tile_range find_tile(const tile_source& s, std::uint32_t tile) {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t job = 0;
    std::uint32_t first_tile = 0;
    std::uint32_t total = 0;
    if (s.tile_begins == nullptr) {
        std::uint32_t up_to = lane < s.job_count ? tiles_of(s, lane) : 0;
        for (std::uint32_t d = 1; d < 32; d *= 2) {
            const std::uint32_t before = __shfl_up_sync(whole_warp, up_to, d);
            if (lane >= d) up_to += before;
        }
        total = __shfl_sync(whole_warp, up_to, 31);
        job = __popc(__ballot_sync(whole_warp, lane < s.job_count && tile >= up_to));
        const std::uint32_t before = __shfl_sync(whole_warp, up_to, job == 0 ? 0 : job - 1);
        first_tile = job == 0 ? 0 : before;
    } else {
        total = s.tile_begins[s.job_count];
        std::uint32_t low = 0;
        std::uint32_t high = s.job_count;
        while (tile < total && high - low > 1) {
            const std::uint32_t step = (high - low + 31) / 32;
            const std::uint32_t probe = low + lane * step;
            const bool not_after = probe < high && s.tile_begins[probe] <= tile;
            low += (__popc(__ballot_sync(whole_warp, not_after)) - 1) * step;
            high = min(high, low + step);
        }
        job = low;
        first_tile = s.tile_begins[job];
    }
    tile_range range{};
    range.none = tile >= total;
    if (range.none) return range;
    range.job = job;
    range.list_begin = list_begin_of(s, job);
    range.list_end = list_end_of(s, job);
    range.begin = range.list_begin + std::uint64_t{tile - first_tile} * s.tile_items;
    range.end = min(range.list_end, range.begin + s.tile_items);
    range.first = tile == first_tile;
    range.last = tile + 1 == total;
    return range;
}

// Takes the next tile for the block and returns its number. Called by a whole warp.
__device__ __forceinline__ std::uint32_t take_tile(const tile_source& s, std::uint32_t* next_tile,
                                                   tile_range& range) {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t next = lane == 0 ? atomicAdd(next_tile, 1U) : 0;
    next = __shfl_sync(whole_warp, next, 0);
    const tile_range found = find_tile(s, next);
    if (lane == 0) range = found;
    return next;
}

/// The largest possible number of tiles.
constexpr std::uint64_t most_tiles(std::uint64_t items, std::uint32_t jobs,
                                   std::uint32_t tile_items) {
    return items / tile_items + jobs + 1;
}

/// Number of words for the table of the first tile of each job; few jobs need no table.
std::uint64_t plan_words(std::uint32_t jobs);

/// Fills this table.
void plan(tile_source& source, std::uint64_t* words, const device::stream& on);

}  // namespace spikeweave::episodes::list_tiles
