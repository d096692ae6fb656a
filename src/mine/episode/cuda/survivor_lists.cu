// Extends survivor lists by a step, and counts non-overlapped occurrences.
//
// Lists are processed in tiles. A block takes the next tile, so a tile never waits for one that has
// not started. The position at which survivors are written follows from the sums of the tiles
// before (decoupled look-back: D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with
// Decoupled Look-back, NVIDIA technical report NVR-2016-002).

#include <algorithm>

#include "mine/episode/cuda/plan.hpp"
#include "mine/episode/cuda/survivor_lists.hpp"

namespace spikeweave::episodes {
namespace {

constexpr unsigned whole_warp = 0xffffffff;
constexpr std::uint32_t threads = 256;
constexpr std::uint32_t warps = threads / 32;
constexpr std::uint32_t most_steps = 16;
constexpr std::uint32_t count_tile = 2048;
// Up to this number of lists, a warp finds the list of a tile by itself; for more lists it searches
// a table.
constexpr std::uint32_t few_jobs = 32;
constexpr std::uint32_t dense_tile = 2048;
// The longest group of overlapping survivors that one thread follows.
constexpr std::uint64_t longest_group = 256;

struct tile_source {
    const std::uint64_t* begins;  // first item of each list
    const extension* jobs;        // null: job i is list i
    const std::uint32_t*
        tile_begins;  // first tile of each job, and the number of tiles; null for few jobs
    std::uint64_t capacity;
    std::uint32_t job_count;
    std::uint32_t tile_items;
};

struct tile_place {
    std::uint64_t list_begin;
    std::uint64_t list_end;
    std::uint64_t begin;  // first item of the tile in the array of all lists
    std::uint64_t end;
    std::uint32_t job;
    bool first;  // first tile of its job
    bool last;   // last tile of all
    bool none;   // there is no such tile
};

__device__ std::uint64_t list_begin_of(const tile_source& s, std::uint32_t job) {
    const std::uint32_t list = s.jobs == nullptr ? job : s.jobs[job].parent;
    return min(s.begins[list], s.capacity);
}

__device__ std::uint64_t list_end_of(const tile_source& s, std::uint32_t job) {
    const std::uint32_t list = s.jobs == nullptr ? job : s.jobs[job].parent;
    return min(s.begins[list + 1], s.capacity);
}

// An empty list also has one tile, which writes the position of the list.
__device__ std::uint32_t tiles_of(const tile_source& s, std::uint32_t job) {
    const std::uint64_t size = list_end_of(s, job) - list_begin_of(s, job);
    return max(1U, static_cast<std::uint32_t>((size + s.tile_items - 1) / s.tile_items));
}

// Finds a tile. Called by a whole warp.
__device__ tile_place find_tile(const tile_source& s, std::uint32_t tile) {
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
    tile_place place{};
    place.none = tile >= total;
    if (place.none) return place;
    place.job = job;
    place.list_begin = list_begin_of(s, job);
    place.list_end = list_end_of(s, job);
    place.begin = place.list_begin + std::uint64_t{tile - first_tile} * s.tile_items;
    place.end = min(place.list_end, place.begin + s.tile_items);
    place.first = tile == first_tile;
    place.last = tile + 1 == total;
    return place;
}

// Computes the first tile of each of many jobs. Runs in one block.
__global__ void __launch_bounds__(1024)
    plan_tiles(const tile_source source, std::uint32_t* __restrict__ tile_begins) {
    __shared__ std::uint32_t warp_sums[32];
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < source.job_count; base += 1024) {
        const std::uint32_t job = base + threadIdx.x;
        const std::uint32_t own = job < source.job_count ? tiles_of(source, job) : 0;
        std::uint32_t up_to = own;
        for (std::uint32_t d = 1; d < 32; d *= 2) {
            const std::uint32_t left = __shfl_up_sync(whole_warp, up_to, d);
            if (lane >= d) up_to += left;
        }
        if (lane == 31) warp_sums[warp] = up_to;
        __syncthreads();
        std::uint32_t sums = warp_sums[lane];
        for (std::uint32_t d = 1; d < 32; d *= 2) {
            const std::uint32_t left = __shfl_up_sync(whole_warp, sums, d);
            if (lane >= d) sums += left;
        }
        const std::uint32_t all = __shfl_sync(whole_warp, sums, 31);
        const std::uint32_t warps_before = __shfl_sync(whole_warp, sums, warp == 0 ? 0 : warp - 1);
        if (job < source.job_count)
            tile_begins[job] = before + (warp == 0 ? 0 : warps_before) + up_to - own;
        before += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) tile_begins[source.job_count] = before;
}

// ---- extension

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

// `places_are_times` means tie_rule::time.
template <bool places_are_times>
__device__ std::uint32_t time_at(const device_trains& data, std::uint32_t place) {
    if constexpr (places_are_times) {
        return place;
    } else {
        return data.event_times[place];
    }
}

// Writes the windows of one step of a warp in order, beginning at `at`. Returns the end.
__device__ std::uint64_t write_windows(const extend_problem& p, const std::uint32_t* target_places,
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
            p.out_ends[mine + i] = target_places[w.first + i];
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
            p.out_ends[there + i] = target_places[first + i];
            p.out_starts[there + i] = same_start;
        }
    }
    return at + __shfl_sync(whole_warp, up_to, 31);
}

template <bool places_are_times>
__global__ void __launch_bounds__(threads) extend_tiles(const extend_problem p) {
    __shared__ std::uint32_t firsts[most_steps * threads];
    __shared__ std::uint32_t sizes[most_steps * threads];
    __shared__ std::uint32_t warp_sums[warps];
    __shared__ tile_place place;
    __shared__ std::uint32_t tile;
    __shared__ std::uint64_t out_begin;
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    for (;;) {
        if (warp == 0) {
            std::uint32_t next = lane == 0 ? atomicAdd(p.next_tile, 1U) : 0;
            next = __shfl_sync(whole_warp, next, 0);
            const tile_place found = find_tile(p.source, next);
            if (lane == 0) {
                place = found;
                tile = next;
            }
        }
        __syncthreads();
        if (place.none) return;
        const extension job = p.source.jobs[place.job];
        const train_place to = p.data.trains[job.unit];
        const interval_32 step = p.data.intervals[job.delay];
        const searched_train target{p.data.times + to.begin, p.data.buckets + to.buckets_begin,
                                    to.size, to.bucket_count, to.shift};

        // Each warp has a contiguous part of the tile and processes 32 survivors per step.
        const std::uint64_t run_begin = place.begin + std::uint64_t{warp} * p.steps * 32;
        std::uint32_t sum = 0;
        for (std::uint32_t s = 0; s < p.steps; ++s) {
            const std::uint64_t item = run_begin + s * 32 + lane;
            window w{0, 0};
            if (item < place.end) {
                const std::uint32_t time = time_at<places_are_times>(p.data, p.ends[item]);
                const std::uint32_t next_time =
                    item + 1 < place.list_end ? time_at<places_are_times>(p.data, p.ends[item + 1])
                                              : latest_tick;
                w = window_of(target, step, time, next_time);
            }
            firsts[s * threads + threadIdx.x] = w.first;
            sizes[s * threads + threadIdx.x] = w.size;
            sum += w.size;
        }
        sum = __reduce_add_sync(whole_warp, sum);
        if (lane == 0) warp_sums[warp] = sum;
        __syncthreads();

        if (warp == 0) {
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
                if (place.first) p.out_begins[place.job] = before;
                if (place.last) p.out_begins[p.source.job_count] = before + all;
            }
        }
        __syncthreads();

        const std::uint32_t* const target_places = p.data.places + to.begin;
        std::uint64_t at = out_begin + (warp == 0 ? 0 : warp_sums[warp - 1]);
        for (std::uint32_t s = 0; s < p.steps; ++s) {
            const std::uint64_t item = run_begin + s * 32 + lane;
            const window w{firsts[s * threads + threadIdx.x], sizes[s * threads + threadIdx.x]};
            const std::uint32_t start = w.size > 0 ? p.starts[item] : 0;
            at = write_windows(p, target_places, w, start, at);
        }
        __syncthreads();
    }
}

// ---- counting

struct count_problem {
    tile_source source;
    const std::uint32_t* ends;
    const std::uint32_t* starts;
    std::uint32_t from;
    list_count* results;
    std::uint32_t* next_tile;
};

// A survivor that starts after the end of the previous survivor is taken whatever was taken before:
// it heads a group of its own. Counts the group's occurrences, earliest end first.
__device__ std::uint32_t count_group(const count_problem& p, const tile_place& place,
                                     std::uint64_t head) {
    std::uint32_t before = p.ends[head];
    std::uint32_t last_end = before;
    std::uint32_t taken = 1;
    std::uint64_t i = head + 1;
    for (; i < place.list_end; ++i) {
        const std::uint32_t start = p.starts[i];
        if (start > before) return taken;
        if (i - head == longest_group) {
            p.results[place.job].dense = 1;
            return taken;
        }
        before = p.ends[i];
        if (start > last_end) {
            ++taken;
            last_end = before;
        }
    }
    p.results[place.job].after_last = last_end + 1;
    return taken;
}

__global__ void __launch_bounds__(threads) count_tiles(const count_problem p) {
    __shared__ tile_place place;
    __shared__ std::uint32_t warp_sums[warps];
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    for (;;) {
        if (warp == 0) {
            std::uint32_t next = lane == 0 ? atomicAdd(p.next_tile, 1U) : 0;
            next = __shfl_sync(whole_warp, next, 0);
            const tile_place found = find_tile(p.source, next);
            if (lane == 0) place = found;
        }
        __syncthreads();
        if (place.none) return;
        std::uint32_t taken = 0;
        for (std::uint64_t i = place.begin + threadIdx.x; i < place.end; i += threads) {
            if (p.ends[i] < p.from) continue;
            const bool head =
                i == place.list_begin || p.ends[i - 1] < p.from || p.starts[i] > p.ends[i - 1];
            if (head) taken += count_group(p, place, i);
        }
        taken = __reduce_add_sync(whole_warp, taken);
        if (lane == 0) warp_sums[warp] = taken;
        __syncthreads();
        if (warp == 0) {
            const std::uint32_t all =
                __reduce_add_sync(whole_warp, lane < warps ? warp_sums[lane] : 0);
            if (lane == 0 && all > 0) atomicAdd(&p.results[place.job].count, all);
        }
        __syncthreads();
    }
}

// ---- counting long runs of overlapping survivors

struct dense_problem {
    list_view lists;
    const std::uint32_t* which;        // indices of the lists
    const std::uint32_t* tile_begins;  // first tile of each of them, and the number of tiles
    std::uint32_t which_count;
    std::uint32_t from;
    list_count* results;  // indexed like `which`; `dense`: the state at the beginning of some tile
                          // is unknown
};

// The state of the greedy choice at some point of a list.
struct greedy {
    std::uint32_t free_from;  // where the next occurrence may start
    std::uint32_t taken;
};

__device__ std::uint64_t first_not_before(const std::uint32_t* places, std::uint64_t begin,
                                          std::uint64_t end, std::uint32_t place) {
    while (begin < end) {
        const std::uint64_t middle = begin + (end - begin) / 2;
        if (places[middle] < place) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// Continues over up to 32 survivors, one per lane. Called by a whole warp.
__device__ void take(greedy& state, bool there, std::uint32_t start, std::uint32_t end) {
    for (;;) {
        const unsigned open = __ballot_sync(whole_warp, there && start >= state.free_from);
        if (open == 0) return;
        // Starts never decrease, and a survivor starts before it ends, so none is taken twice.
        state.free_from = __shfl_sync(whole_warp, end, __ffs(static_cast<int>(open)) - 1) + 1;
        ++state.taken;
    }
}

// One warp counts one tile. The first survivor that it takes depends on what was taken before, but
// only on a short part of it: whatever the state is at the beginning of this part, it lies between
// "nothing was taken" and "the previous survivor was taken", and choices that begin between two
// others stay between them. If both take the same survivor as their n-th, so does the true one. The
// same holds at a survivor that starts after the end of the previous one, where all choices meet.
__global__ void __launch_bounds__(32) count_dense_tiles(const dense_problem p) {
    const std::uint32_t lane = threadIdx.x;
    std::uint32_t low = 0;
    std::uint32_t high = p.which_count;
    while (high - low > 1) {
        const std::uint32_t middle = (low + high) / 2;
        if (p.tile_begins[middle] <= blockIdx.x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const std::uint32_t list = p.which[low];
    const std::uint64_t list_end = p.lists.begins[list + 1];
    const std::uint64_t list_begin =
        first_not_before(p.lists.ends, p.lists.begins[list], list_end, p.from);
    const std::uint64_t begin =
        list_begin + std::uint64_t{blockIdx.x - p.tile_begins[low]} * dense_tile;
    if (begin >= list_end) return;
    const std::uint64_t end = min(list_end, begin + dense_tile);

    const std::uint64_t look_back =
        begin - list_begin < dense_tile ? list_begin : begin - dense_tile;
    greedy nothing_taken{0, 0};
    greedy just_taken{look_back == list_begin ? 0 : p.lists.ends[look_back - 1] + 1, 0};
    bool met = look_back == list_begin;
    for (std::uint64_t base = look_back; base < begin; base += 32) {
        const std::uint64_t i = base + lane;
        const bool there = i < begin;
        const std::uint32_t start = there ? p.lists.starts[i] : 0;
        const std::uint32_t at = there ? p.lists.ends[i] : 0;
        take(nothing_taken, there, start, at);
        take(just_taken, there, start, at);
        const bool apart = there && i > list_begin && start > p.lists.ends[i - 1];
        met = __any_sync(whole_warp, apart) || met;
    }
    met = met || (nothing_taken.taken > 0 && nothing_taken.taken == just_taken.taken &&
                  nothing_taken.free_from == just_taken.free_from);
    if (!met) met = p.lists.starts[begin] > p.lists.ends[begin - 1];
    if (!met) {
        if (lane == 0) p.results[low].dense = 1;
        return;
    }
    greedy state{nothing_taken.free_from, 0};
    for (std::uint64_t base = begin; base < end; base += 32) {
        const std::uint64_t i = base + lane;
        const bool there = i < end;
        take(state, there, there ? p.lists.starts[i] : 0, there ? p.lists.ends[i] : 0);
    }
    if (lane != 0) return;
    atomicAdd(&p.results[low].count, state.taken);
    if (end == list_end) p.results[low].after_last = state.free_from;
}

// Counts the lists for which the state at the beginning of a tile is unknown (regular spike trains
// cause this), each with one warp from its first survivor to its last.
__global__ void __launch_bounds__(32) count_whole_lists(const dense_problem p) {
    const std::uint32_t lane = threadIdx.x;
    if (p.results[blockIdx.x].dense == 0) return;
    const std::uint32_t list = p.which[blockIdx.x];
    const std::uint64_t end = p.lists.begins[list + 1];
    greedy state{0, 0};
    for (std::uint64_t base = first_not_before(p.lists.ends, p.lists.begins[list], end, p.from);
         base < end; base += 32) {
        const bool there = base + lane < end;
        take(state, there, there ? p.lists.starts[base + lane] : 0,
             there ? p.lists.ends[base + lane] : 0);
    }
    if (lane == 0) p.results[blockIdx.x] = {state.taken, state.free_from, 0};
}

// ---- continuing from an earlier part of the recording

struct entry_problem {
    list_view lists;
    const list_count* counted;
    std::uint32_t from;
    std::uint32_t* sizes;
    const std::uint64_t* begins;  // first entry of each list
    entry_count* entries;
};

__global__ void __launch_bounds__(threads) count_entries(const entry_problem p) {
    const std::uint32_t list = blockIdx.x * threads + threadIdx.x;
    if (list >= p.lists.count) return;
    const std::uint64_t end = p.lists.begins[list + 1];
    const std::uint64_t first = first_not_before(p.lists.ends, p.lists.begins[list], end, p.from);
    const std::uint64_t free = first_not_before(p.lists.starts, first, end, p.from);
    p.sizes[list] = static_cast<std::uint32_t>(min(end, free + 1) - first);
}

// Each warp has a list and each lane an entry. A lane counts from its entry and, beside it, from
// the first entry until both take the same survivor.
__global__ void __launch_bounds__(32) follow_entries(const entry_problem p) {
    const std::uint32_t list = blockIdx.x;
    const std::uint64_t end = p.lists.begins[list + 1];
    const std::uint64_t first = first_not_before(p.lists.ends, p.lists.begins[list], end, p.from);
    const list_count whole = p.counted[list];
    for (std::uint64_t e = p.begins[list] + threadIdx.x; e < p.begins[list + 1]; e += 32) {
        const std::uint64_t entry = first + (e - p.begins[list]);
        std::uint32_t first_free = 0;
        std::uint32_t first_taken = 0;
        std::uint32_t own_free = 0;
        std::uint32_t own_taken = 0;
        bool met = false;
        for (std::uint64_t i = first; i < end && !met; ++i) {
            const std::uint32_t start = p.lists.starts[i];
            const std::uint32_t behind = p.lists.ends[i] + 1;
            const bool by_first = start >= first_free;
            const bool by_own = i >= entry && start >= own_free;
            if (by_first) {
                first_free = behind;
                ++first_taken;
            }
            if (by_own) {
                own_free = behind;
                ++own_taken;
            }
            met = by_first && by_own;
        }
        p.entries[e] = {p.lists.starts[entry],
                        met ? whole.count - first_taken + own_taken : own_taken,
                        met ? whole.after_last : own_free};
    }
}

// ---- copying chosen lists, and the search table

struct choose_problem {
    list_view lists;
    const std::uint32_t* which;
    const std::uint64_t* out_begins;
    std::uint32_t* out_ends;
    std::uint32_t* out_starts;
};

// x: lists, y: parts of each
__global__ void __launch_bounds__(threads) copy_lists(const choose_problem p) {
    const std::uint64_t from = p.lists.begins[p.which[blockIdx.x]];
    const std::uint64_t to = p.out_begins[blockIdx.x];
    const std::uint64_t size = p.out_begins[blockIdx.x + 1] - to;
    for (std::uint64_t i = blockIdx.y * threads + threadIdx.x; i < size; i += gridDim.y * threads) {
        p.out_ends[to + i] = p.lists.ends[from + i];
        p.out_starts[to + i] = p.lists.starts[from + i];
    }
}

// x: trains, y: parts of each
__global__ void __launch_bounds__(threads)
    fill_bucket_tables(const std::uint32_t* __restrict__ times,
                       const train_place* __restrict__ trains,
                       std::uint32_t* __restrict__ buckets) {
    const train_place train = trains[blockIdx.x];
    const std::uint32_t* const mine = times + train.begin;
    std::uint32_t* const out = buckets + train.buckets_begin;
    const std::uint64_t stride = std::uint64_t{gridDim.y} * threads;
    // Spike i is the first one of every bucket after that of the previous spike, up to its own; the
    // end of the train belongs to all buckets that remain.
    for (std::uint64_t i = blockIdx.y * threads + threadIdx.x; i <= train.size; i += stride) {
        const std::uint32_t begin = i == 0 ? 0 : (mine[i - 1] >> train.shift) + 1;
        const std::uint32_t end =
            i == train.size ? train.bucket_count + 1 : (mine[i] >> train.shift) + 1;
        for (std::uint32_t b = begin; b < end; ++b) out[b] = static_cast<std::uint32_t>(i);
    }
}

// ---- host

std::uint64_t most_tiles(std::uint64_t items, std::uint32_t jobs, std::uint32_t tile_items) {
    return items / tile_items + jobs + 1;
}

// Number of words for the table of the first tile of each job; few jobs need no table.
std::uint64_t plan_words(std::uint32_t jobs) {
    return jobs <= few_jobs ? 0 : jobs / 2 + std::uint64_t{1};
}

// Fills this table.
void plan(tile_source& source, std::uint64_t* words, const device::stream& on) {
    if (source.job_count <= few_jobs) return;
    auto* const tile_begins = reinterpret_cast<std::uint32_t*>(words);
    plan_tiles<<<1, 1024, 0, on.get()>>>(source, tile_begins);
    device::check(cudaGetLastError());
    source.tile_begins = tile_begins;
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

std::uint32_t shares(std::uint64_t items, std::uint32_t lists) {
    const std::uint64_t each = items / std::max<std::uint64_t>(1, lists);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(each / 4096, 1, 256));
}

}  // namespace

std::uint64_t extension_words(const list_load& load, std::uint32_t jobs) {
    return 1 + most_tiles(load.at_most, jobs, threads * extension_steps(load)) + plan_words(jobs);
}

std::uint64_t counting_words(std::uint32_t lists) {
    return 1 + plan_words(lists);
}

void extend_lists(const device_trains& trains, const list_view& parents, const extension* jobs,
                  const list_room& out, const list_load& load, std::uint64_t* zeroed_words,
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

std::vector<list_count> count_dense_lists(const list_view& lists,
                                          std::span<const std::uint64_t> begins,
                                          std::span<const std::uint32_t> which, std::uint32_t from,
                                          const device::stream& on) {
    if (which.empty()) return {};
    std::vector<std::uint32_t> tile_begins{0};
    tile_begins.reserve(which.size() + 1);
    for (const std::uint32_t list : which) {
        const std::uint64_t size = begins[list + 1] - begins[list];
        tile_begins.push_back(tile_begins.back() +
                              static_cast<std::uint32_t>(pieces_of(size, dense_tile)));
    }
    const device::buffer<std::uint32_t> lists_there(which, on);
    const device::buffer<std::uint32_t> tiles_there(tile_begins, on);
    device::buffer<list_count> results(which.size(), on);
    results.fill(0);
    const auto count = static_cast<std::uint32_t>(which.size());
    const dense_problem problem{lists, lists_there.data(), tiles_there.data(), count,
                                from,  results.data()};
    count_dense_tiles<<<tile_begins.back(), 32, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    count_whole_lists<<<count, 32, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    return results.downloaded();
}

survivor_lists chosen_lists(const list_view& lists, std::span<const std::uint64_t> begins,
                            std::span<const std::uint32_t> which, const device::stream& on) {
    std::vector<std::uint64_t> out_begins{0};
    out_begins.reserve(which.size() + 1);
    for (const std::uint32_t list : which)
        out_begins.push_back(out_begins.back() + begins[list + 1] - begins[list]);
    const auto count = static_cast<std::uint32_t>(which.size());
    survivor_lists out(count, out_begins.back(), on);
    out.begins.upload(out_begins);
    if (out_begins.back() > 0) {
        const device::buffer<std::uint32_t> lists_there(which, on);
        const dim3 grid(count, shares(out_begins.back(), count));
        copy_lists<<<grid, threads, 0, on.get()>>>(
            {lists, lists_there.data(), out.begins.data(), out.ends.data(), out.starts.data()});
        device::check(cudaGetLastError());
    }
    on.wait();
    return out;
}

std::vector<std::vector<entry_count>> entries_of_lists(const list_view& lists,
                                                       std::span<const list_count> counted,
                                                       std::uint32_t from,
                                                       const device::stream& on) {
    std::vector<std::vector<entry_count>> entries(lists.count);
    if (lists.count == 0) return entries;
    const device::buffer<list_count> counted_there(counted, on);
    device::buffer<std::uint32_t> sizes(lists.count, on);
    entry_problem problem{lists, counted_there.data(), from, sizes.data(), nullptr, nullptr};
    const auto grid = static_cast<std::uint32_t>(pieces_of(lists.count, threads));
    count_entries<<<grid, threads, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    const std::vector<std::uint32_t> found = sizes.downloaded();
    std::vector<std::uint64_t> begins{0};
    begins.reserve(found.size() + 1);
    for (const std::uint32_t size : found) begins.push_back(begins.back() + size);
    if (begins.back() == 0) return entries;
    const device::buffer<std::uint64_t> begins_there(begins, on);
    const device::buffer<entry_count> all(begins.back(), on);
    problem.begins = begins_there.data();
    problem.entries = all.data();
    follow_entries<<<lists.count, 32, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    const std::vector<entry_count> values = all.downloaded();
    for (std::size_t i = 0; i < entries.size(); ++i)
        entries[i].assign(values.begin() + static_cast<std::ptrdiff_t>(begins[i]),
                          values.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]));
    return entries;
}

void fill_buckets(const std::uint32_t* times, const train_place* trains, std::uint32_t train_count,
                  std::uint64_t spikes, std::uint32_t* buckets, const device::stream& on) {
    if (train_count == 0) return;
    const dim3 grid(train_count, shares(spikes, train_count));
    fill_bucket_tables<<<grid, threads, 0, on.get()>>>(times, trains, buckets);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::episodes
