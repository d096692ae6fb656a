// Extends survivor lists by a step.
//
// The position at which the survivors of a tile are written follows from the sums of the tiles
// before (decoupled look-back: D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with
// Decoupled Look-back, NVIDIA technical report NVR-2016-002).

#include <algorithm>

#include "mine/episodes/latest_start/cuda/list_tiles.cuh"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"

namespace spikeweave::episodes {
namespace {

using namespace list_tiles;

constexpr std::uint32_t most_steps = 16;

// The state that a tile publishes for later ones: a flag and a sum in one word.
constexpr std::uint64_t own_sum = std::uint64_t{1} << 62;
constexpr std::uint64_t sum_up_to_here = std::uint64_t{2} << 62;
constexpr std::uint64_t sum_bits = own_sum - 1;

// Returns the sum of all tiles before this one. Called by a whole warp.
__device__ std::uint64_t sum_before(volatile std::uint64_t* states, std::uint32_t tile,
                                    std::uint32_t own) {
    const std::uint32_t lane = threadIdx.x % 32;
    if (tile > 0 && lane == 0) states[tile] = own_sum | own;
    std::uint64_t before = 0;
    for (std::int64_t nearest = std::int64_t{tile} - 1; nearest >= 0; nearest -= 32) {
        const std::int64_t looked_at = nearest - lane;
        std::uint64_t state = sum_up_to_here;
        if (looked_at >= 0) {
            do state = states[looked_at];
            while (state == 0);
        }
        const unsigned complete = __ballot_sync(whole_warp, (state & sum_up_to_here) != 0);
        const std::uint32_t last = complete == 0 ? 31 : __ffs(static_cast<int>(complete)) - 1;
        std::uint64_t sum = lane <= last ? state & sum_bits : 0;
        for (std::uint32_t d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(whole_warp, sum, d);
        before += sum;
        if (complete != 0) break;
    }
    if (lane == 0) states[tile] = sum_up_to_here | (before + own);
    return before;
}

struct extend_problem {
    device_trains data;
    tile_source source;
    const std::uint32_t* ends;
    const std::uint32_t* starts;
    std::uint32_t steps;  // items per thread
    std::uint32_t* out_ends;
    std::uint32_t* out_starts;
    std::uint64_t* out_begins;
    std::uint64_t capacity;
    std::uint64_t* tile_states;  // initially 0
    std::uint32_t* next_tile;    // initially 0
};

// The spikes of the target that survive thanks to one survivor: those in (t + low, t + high] that
// no later survivor reaches.
struct window {
    std::uint32_t first;
    std::uint32_t size;
};

__device__ window window_of(const searched_train& target, const interval_32& step,
                            std::uint32_t time, std::uint32_t next_time) {
    const std::uint32_t limit =
        min(later_by(time, step.high),
            next_time == latest_tick ? latest_tick : later_by(next_time, step.low));
    const std::uint32_t first = target.first_after(later_by(time, step.low));
    constexpr std::uint32_t mostly = 4;
    std::uint32_t size = 0;
    while (size < mostly && first + size < target.size && target.times[first + size] <= limit)
        ++size;
    if (size == mostly) size = target.first_after(limit) - first;
    return {first, size};
}

// `keys_are_times` means tie_rule::time.
template <bool keys_are_times>
__device__ std::uint32_t time_at(const device_trains& data, std::uint32_t order_key) {
    if constexpr (keys_are_times) {
        return order_key;
    } else {
        return data.event_times[order_key];
    }
}

// Writes the windows of one step of a warp in order, beginning at `at`. Returns the end.
__device__ std::uint64_t write_windows(const extend_problem& p, const std::uint32_t* target_keys,
                                       window w, std::uint32_t start, std::uint64_t at) {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t up_to = 0;
    if (__any_sync(whole_warp, w.size > 1)) {
        up_to = w.size;
        for (std::uint32_t d = 1; d < 32; d *= 2) {
            const std::uint32_t left = __shfl_up_sync(whole_warp, up_to, d);
            if (lane >= d) up_to += left;
        }
    } else {
        up_to = __popc(__ballot_sync(whole_warp, w.size > 0) & (whole_warp >> (31 - lane)));
    }
    const std::uint64_t mine = at + up_to - w.size;
    constexpr std::uint32_t alone = 16;
    if (w.size <= alone) {
        for (std::uint32_t i = 0; i < w.size && mine + i < p.capacity; ++i) {
            p.out_ends[mine + i] = target_keys[w.first + i];
            p.out_starts[mine + i] = start;
        }
    }
    for (unsigned long_ones = __ballot_sync(whole_warp, w.size > alone); long_ones != 0;
         long_ones &= long_ones - 1) {
        const int from = __ffs(static_cast<int>(long_ones)) - 1;
        const std::uint32_t first = __shfl_sync(whole_warp, w.first, from);
        const std::uint32_t size = __shfl_sync(whole_warp, w.size, from);
        const std::uint32_t same_start = __shfl_sync(whole_warp, start, from);
        const std::uint64_t there = __shfl_sync(whole_warp, mine, from);
        for (std::uint32_t i = lane; i < size && there + i < p.capacity; i += 32) {
            p.out_ends[there + i] = target_keys[first + i];
            p.out_starts[there + i] = same_start;
        }
    }
    return at + __shfl_sync(whole_warp, up_to, 31);
}

// Finds the windows of a warp's survivors, from item `run_begin` on: their beginnings and sizes. A
// warp processes 32 survivors per step. Returns the sum of this thread's sizes.
template <bool keys_are_times>
__device__ __forceinline__ std::uint32_t find_windows(
    const extend_problem& p, const searched_train& target, const interval_32& step,
    const tile_range& range, std::uint64_t run_begin, std::uint32_t* firsts, std::uint32_t* sizes) {
    std::uint32_t sum = 0;
    for (std::uint32_t s = 0; s < p.steps; ++s) {
        const std::uint64_t item = run_begin + s * 32 + threadIdx.x % 32;
        window w{0, 0};
        if (item < range.end) {
            const std::uint32_t time = time_at<keys_are_times>(p.data, p.ends[item]);
            const std::uint32_t next_time = item + 1 < range.list_end
                                                ? time_at<keys_are_times>(p.data, p.ends[item + 1])
                                                : latest_tick;
            w = window_of(target, step, time, next_time);
        }
        firsts[s * threads + threadIdx.x] = w.first;
        sizes[s * threads + threadIdx.x] = w.size;
        sum += w.size;
    }
    return sum;
}

// Finds where the output of a tile begins, and turns the sums of its warps into running sums.
// Called by a whole warp.
__device__ __forceinline__ void place_output(const extend_problem& p, const tile_range& range,
                                             std::uint32_t tile, std::uint32_t* warp_sums,
                                             std::uint64_t& out_begin) {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t up_to = lane < warps ? warp_sums[lane] : 0;
    for (std::uint32_t d = 1; d < warps; d *= 2) {
        const std::uint32_t left = __shfl_up_sync(whole_warp, up_to, d);
        if (lane >= d) up_to += left;
    }
    const std::uint32_t all = __shfl_sync(whole_warp, up_to, warps - 1);
    const std::uint64_t before = sum_before(p.tile_states, tile, all);
    __syncwarp();
    if (lane < warps) warp_sums[lane] = up_to;
    if (lane == 0) {
        out_begin = before;
        if (range.first) p.out_begins[range.job] = before;
        if (range.last) p.out_begins[p.source.job_count] = before + all;
    }
}

template <bool keys_are_times>
__global__ void __launch_bounds__(threads) extend_tiles(const extend_problem p) {
    __shared__ std::uint32_t firsts[most_steps * threads];
    __shared__ std::uint32_t sizes[most_steps * threads];
    __shared__ std::uint32_t warp_sums[warps];
    __shared__ tile_range range;
    __shared__ std::uint32_t tile;
    __shared__ std::uint64_t out_begin;
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    for (;;) {
        if (warp == 0) {
            const std::uint32_t next = take_tile(p.source, p.next_tile, range);
            if (lane == 0) tile = next;
        }
        __syncthreads();
        if (range.none) return;
        const extension job = p.source.jobs[range.job];
        const train_layout to = p.data.trains[job.unit];
        const interval_32 step = p.data.intervals[job.delay];
        const searched_train target{p.data.times + to.begin, p.data.buckets + to.buckets_begin,
                                    to.size, to.bucket_count, to.shift};

        // Each warp has a contiguous part of the tile and processes 32 survivors per step.
        const std::uint64_t run_begin = range.begin + std::uint64_t{warp} * p.steps * 32;
        const std::uint32_t sum = device::warp_sum(
            find_windows<keys_are_times>(p, target, step, range, run_begin, firsts, sizes));
        if (lane == 0) warp_sums[warp] = sum;
        __syncthreads();

        if (warp == 0) place_output(p, range, tile, warp_sums, out_begin);
        __syncthreads();

        const std::uint32_t* const target_keys = p.data.order_keys + to.begin;
        std::uint64_t at = out_begin + (warp == 0 ? 0 : warp_sums[warp - 1]);
        for (std::uint32_t s = 0; s < p.steps; ++s) {
            const std::uint64_t item = run_begin + s * 32 + lane;
            const window w{firsts[s * threads + threadIdx.x], sizes[s * threads + threadIdx.x]};
            const std::uint32_t start = w.size > 0 ? p.starts[item] : 0;
            at = write_windows(p, target_keys, w, start, at);
        }
        __syncthreads();
    }
}

std::uint32_t extension_blocks(const list_load& load) {
    constexpr std::uint32_t each = 6;
    return static_cast<std::uint32_t>(load.multiprocessors) * each;
}

// Items per thread: few if there are few in all, so that every multiprocessor has work.
std::uint32_t extension_steps(const list_load& load) {
    const std::uint64_t at_once = std::uint64_t{extension_blocks(load)} * threads;
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(load.expected / at_once, 1, most_steps));
}

}  // namespace

std::uint64_t extension_words(const list_load& load, std::uint32_t jobs) {
    return 1 + most_tiles(load.at_most, jobs, threads * extension_steps(load)) + plan_words(jobs);
}

void extend_lists(const device_trains& trains, const list_view& parents, const extension* jobs,
                  const list_memory& out, const list_load& load, std::uint64_t* zeroed_words,
                  const device::stream& on) {
    if (out.count == 0) return;
    const std::uint32_t steps = extension_steps(load);
    tile_source source{parents.begins, jobs, nullptr, parents.capacity, out.count, threads * steps};
    const std::uint64_t tiles = most_tiles(load.at_most, out.count, source.tile_items);
    plan(source, zeroed_words + 1 + tiles, on);
    const extend_problem problem{trains,
                                 source,
                                 parents.ends,
                                 parents.starts,
                                 steps,
                                 out.ends,
                                 out.starts,
                                 out.begins,
                                 out.capacity,
                                 zeroed_words + 1,
                                 reinterpret_cast<std::uint32_t*>(zeroed_words)};
    const auto grid =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(extension_blocks(load), tiles));
    if (trains.event_times == nullptr) {
        extend_tiles<true><<<grid, threads, 0, on.get()>>>(problem);
    } else {
        extend_tiles<false><<<grid, threads, 0, on.get()>>>(problem);
    }
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::episodes
