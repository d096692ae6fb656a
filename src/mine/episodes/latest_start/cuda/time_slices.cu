// Counts one long episode. A block takes the next slice of time and loads the spikes of all units
// of the episode that matter for it into shared memory, one unit after the other, so that each
// spike is read once and no list of survivors is written.
//
//   work per thread   up to 32 neighbours in the merge of a unit's spikes with the survivors of the
//                     previous unit, then every 128th survivor
//   shared memory     two units' spikes and the survivors: 32 or 40 KiB
//   pays off          for one episode; for many with a common beginning, lists share the work
//
// A slice ends with a run of spikes of the last unit; of the other units it has the spikes within
// the episode's longest span before them. Slices are counted independently except for the
// occurrence that crosses a border: each slice passes to the next one the end of its last
// occurrence. It knows this without the slice before as soon as one of its survivors starts after
// the end of the previous survivor.

#include <algorithm>
#include <cmath>
#include <span>

#include "core/stop.hpp"
#include "device/copies.cuh"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/latest_start/cuda/slice_merge.cuh"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"
#include "mine/episodes/latest_start/cuda/time_split.hpp"

namespace spikeweave::episodes {
namespace {

using namespace slice_merge;

// Most spikes of a unit in a slice: seven blocks then share the memory of a multiprocessor.
constexpr std::uint32_t most_of_unit = 1984;
static_assert(2 * most_of_unit <= most_merged);
constexpr std::uint32_t most_units = 16;
// If more survivors than this overlap in a row, another method is faster.
constexpr std::uint32_t longest_run = 256;

struct slice_step {
    std::uint32_t unit;
    interval_32 delay;       // from here to the next unit
    std::uint32_t low_left;  // sum of the lower bounds from here to the last unit
    std::uint32_t high_left;
};

struct sweep_result {
    unsigned long long count;
    std::uint32_t next_slice;
    std::uint32_t failed;
};

struct sweep_problem {
    const std::uint32_t* times;       // unit by unit
    const std::uint32_t* order_keys;  // the same as `times` under tie_rule::time
    const train_layout* trains;
    const std::uint32_t* buckets;
    slice_step steps[most_units];
    std::uint32_t units;
    std::uint32_t slices;
    std::uint32_t spikes_each;  // number of spikes of the last unit in a slice
    // For each slice and unit: the index of the first spike in all trains, and the number of
    // spikes.
    uint2* bounds;
    std::uint32_t* before;  // for each slice: order key of the last unit's spike before it
    std::uint64_t* states;
    sweep_result* result;
};

// Finds the spikes of each slice. A thread has one unit of one slice.
__global__ void __launch_bounds__(slice_threads) find_slices(const sweep_problem p) {
    const std::uint32_t i = blockIdx.x * slice_threads + threadIdx.x;
    if (i == 0) *p.result = {};
    if (i >= p.slices * p.units) return;
    const std::uint32_t slice = i / p.units;
    const std::uint32_t step = i % p.units;
    const train_layout last_train = p.trains[p.steps[p.units - 1].unit];
    const std::uint32_t first = slice * p.spikes_each;
    const std::uint32_t last = min(first + p.spikes_each, last_train.size) - 1;
    if (step + 1 == p.units) {
        p.states[slice] = 0;
        p.before[slice] = slice == 0 ? 0 : p.order_keys[last_train.begin + first - 1];
        p.bounds[i] = {last_train.begin + first, last + 1 - first};
        return;
    }
    const std::uint32_t first_time = p.times[last_train.begin + first];
    const std::uint32_t last_time = p.times[last_train.begin + last];
    const slice_step& here = p.steps[step];
    const train_layout layout = p.trains[here.unit];
    const searched_train train{p.times + layout.begin, p.buckets + layout.buckets_begin,
                               layout.size, layout.bucket_count, layout.shift};
    const std::uint32_t begin =
        first_time > here.high_left ? train.first_after(first_time - here.high_left - 1) : 0;
    const std::uint32_t end =
        last_time > here.low_left ? train.first_after(last_time - here.low_left - 1) : 0;
    p.bounds[i] = {layout.begin + begin, max(begin, end) - begin};
}

// Words of a unit in shared memory. Copies are of 4 spikes at aligned addresses.
constexpr std::uint32_t unit_words = most_of_unit + 8;

// Buffers for the times of two units' spikes, the ends of survivors (times; order keys in the last
// step) and twice their starts (the order key of the first spike; its index under tie_rule::order).
struct slice_buffers {
    std::uint32_t* words;

    __device__ std::uint32_t* spikes(std::uint32_t step) const {
        return words + step % 2 * unit_words;
    }
    __device__ std::uint32_t* ends() const { return words + 2 * unit_words; }
    /// The buffer that step `step` writes.
    __device__ std::uint32_t* starts(std::uint32_t step) const {
        return words + (4 - step % 2) * unit_words;
    }
};

constexpr std::size_t buffer_bytes(std::uint32_t units) {
    return (units == 2 ? 4 : 5) * std::size_t{unit_words} * sizeof(std::uint32_t);
}

// Where the spikes of a slice are.
struct slice_layout {
    std::uint32_t slice;
    std::uint32_t before;             // order key of the last unit's spike before the slice
    std::uint32_t size[most_units];   // number of spikes of each unit
    std::uint32_t begin[most_units];  // index of the first of them in all trains
};

// The same while it is loaded: each lane of a warp has one unit.
struct fetched_layout {
    std::uint32_t slice;
    std::uint32_t before;
    std::uint32_t failed;
    uint2 bounds;
};

__device__ fetched_layout fetch(const sweep_problem& p, std::uint32_t slice) {
    const std::uint32_t lane = threadIdx.x % 32;
    fetched_layout layout{slice, 0, 0, {0, 0}};
    if (slice >= p.slices) return layout;
    if (lane < p.units) layout.bounds = p.bounds[slice * p.units + lane];
    layout.before = p.before[slice];
    layout.failed = *static_cast<volatile std::uint32_t*>(&p.result->failed);
    return layout;
}

// Stores a loaded layout. A slice that is too large fails the whole sweep; later slices are empty.
__device__ void put_down(const sweep_problem& p, const fetched_layout& from, slice_layout& to) {
    const std::uint32_t lane = threadIdx.x % 32;
    const bool too_large = __any_sync(whole_warp, from.bounds.y > most_of_unit);
    if (lane < p.units) {
        to.size[lane] = too_large || from.failed != 0 ? 0 : from.bounds.y;
        to.begin[lane] = from.bounds.x;
    }
    if (lane > 0) return;
    to.slice = from.slice;
    to.before = from.before;
    if (too_large) p.result->failed = 1;
}

__device__ std::uint32_t* spikes_of(const slice_layout& layout, const slice_buffers& buffers,
                                    std::uint32_t step) {
    return buffers.spikes(step) + layout.begin[step] % 4;
}

// Starts copying the spikes of one unit.
__device__ __forceinline__ void copy_spikes(const sweep_problem& p, const slice_layout& layout,
                                            const slice_buffers& buffers, std::uint32_t step) {
    const std::uint32_t before = layout.begin[step] % 4;
    const std::uint32_t* const from = p.times + (layout.begin[step] - before);
    std::uint32_t* const to = buffers.spikes(step);
    const std::uint32_t words = layout.size[step] == 0 ? 0 : before + layout.size[step];
    const std::uint32_t by_four = words / 4 * 4;
    constexpr std::uint32_t at_once = 4 * slice_threads;
#pragma unroll
    for (std::uint32_t k = 0; k < unit_words; k += at_once) {
        const std::uint32_t i = k + 4 * threadIdx.x;
        if (i < by_four) device::start_copy<16>(to + i, from + i);
    }
    const std::uint32_t rest = by_four + threadIdx.x;
    if (rest < words) device::start_copy<4>(to + rest, from + rest);
    if (threadIdx.x == 0) to[before + layout.size[step]] = none;
}

template <bool keys_are_times>
__device__ __forceinline__ step_lists lists_of(const sweep_problem& p, const slice_layout& layout,
                                               const slice_buffers& buffers, std::uint32_t step,
                                               std::uint32_t parents) {
    const std::uint32_t* const ends = step == 1 ? spikes_of(layout, buffers, 0) : buffers.ends();
    return {step,
            step + 1 == p.units,
            p.steps[step - 1].delay,
            spikes_of(layout, buffers, step),
            layout.size[step],
            keys_are_times ? nullptr : p.order_keys + layout.begin[step],
            ends,
            step > 1 ? buffers.starts(step - 1) : ends,
            parents,
            buffers.ends(),
            buffers.starts(step)};
}

// The state that a slice publishes for later ones, in one word; 0: not known yet.
constexpr std::uint64_t no_survivors = 1;
constexpr std::uint64_t taken_up_to = std::uint64_t{1} << 32;  // plus the first free order key

// Counts the non-overlapped occurrences of a slice from its survivors.
template <bool keys_are_times>
class slice_count {
public:
    __device__ slice_count(const sweep_problem& problem, const slice_layout& slice_at,
                           const slice_buffers& slice, std::uint32_t survivors)
        : p(problem),
          layout(slice_at),
          starts(slice.starts(problem.units - 1)),
          ends(slice.ends()),
          size(survivors) {}

    // Counts every group that starts after the end of another survivor of this slice, or that no
    // earlier survivor can affect.
    __device__ __forceinline__ std::uint32_t groups() const {
        if (size == 0 && threadIdx.x == 0) tell(no_survivors);
        std::uint32_t taken = 0;
        for (std::uint32_t i = threadIdx.x; i < size; i += slice_threads) {
            if (i == 0 ? is_first_of_all(layout.slice, layout.before) : start_of(i) > ends[i - 1])
                taken += follow(i, 0);
        }
        return taken;
    }

    // Counts the group that continues from earlier slices, if there is one. Called by one thread.
    __device__ __forceinline__ std::uint32_t leading_group() const {
        if (size == 0 || is_first_of_all(layout.slice, layout.before)) return 0;
        volatile const std::uint64_t* const states = p.states;
        std::uint32_t free_from = 0;
        for (std::uint32_t slice = layout.slice; !is_first_of_all(slice, p.before[slice]);) {
            --slice;
            std::uint64_t state = 0;
            do state = states[slice];
            while (state == 0);
            if (state == no_survivors) continue;
            free_from = static_cast<std::uint32_t>(state);
            break;
        }
        return follow(0, free_from);
    }

private:
    __device__ std::uint32_t start_of(std::uint32_t i) const {
        return keys_are_times ? starts[i] : p.order_keys[layout.begin[0] + starts[i]];
    }

    // Returns whether nothing that ended before a slice can affect it: `before` is its
    // `sweep_problem::before`.
    __device__ bool is_first_of_all(std::uint32_t slice, std::uint32_t before) const {
        return slice == 0 || start_of(0) > before;
    }

    __device__ void tell(std::uint64_t state) const {
        static_cast<volatile std::uint64_t*>(p.states)[layout.slice] = state;
    }

    // Takes survivors, earliest end first, up to the next group.
    __device__ __forceinline__ std::uint32_t follow(std::uint32_t first,
                                                    std::uint32_t free_from) const {
        std::uint32_t taken = 0;
        std::uint32_t start = start_of(first);
        for (std::uint32_t i = first;;) {
            const std::uint32_t end = ends[i];
            if (start >= free_from) {
                ++taken;
                free_from = end + 1;
            }
            if (++i < size) start = start_of(i);
            if (i < size && start <= end) continue;
            if (i == size) tell(taken_up_to | free_from);
            if (i - first > longest_run) p.result->failed = 1;
            return taken;
        }
    }

    const sweep_problem& p;
    const slice_layout& layout;
    const std::uint32_t* starts;
    const std::uint32_t* ends;
    std::uint32_t size;
};

template <bool keys_are_times>
__global__ void __launch_bounds__(slice_threads)
    sweep_slices(const __grid_constant__ sweep_problem p) {
    extern __shared__ uint4 memory[];
    __shared__ slice_layout layouts[2];
    __shared__ std::uint32_t warp_sums[slice_warps];
    const slice_buffers buffers{reinterpret_cast<std::uint32_t*>(memory)};
    const auto copy_first_units = [&](const slice_layout& layout) {
        if (layout.slice >= p.slices) return;
        copy_spikes(p, layout, buffers, 0);
        copy_spikes(p, layout, buffers, 1);
    };
    // While a slice is counted, thread 0 asks for the next one and the block starts copying it.
    std::uint32_t next = 0;
    const auto ask_for_slice = [&] {
        if (threadIdx.x == 0) next = atomicAdd(&p.result->next_slice, 1U);
    };

    ask_for_slice();
    if (threadIdx.x < 32) put_down(p, fetch(p, __shfl_sync(whole_warp, next, 0)), layouts[0]);
    __syncthreads();
    copy_first_units(layouts[0]);
    ask_for_slice();
    std::uint32_t taken = 0;
    for (std::uint32_t turn = 0; layouts[turn].slice < p.slices; turn ^= 1U) {
        const slice_layout& here = layouts[turn];
        fetched_layout following{};
        std::uint32_t survivors = here.size[0];
        for (std::uint32_t step = 1; step < p.units; ++step) {
            device::wait_for_copies();
            __syncthreads();
            const step_lists lists = lists_of<keys_are_times>(p, here, buffers, step, survivors);
            // This overwrites the spikes of the previous unit, which only the first step still
            // reads.
            if (step > 1 && !lists.last) copy_spikes(p, here, buffers, step + 1);
            const bool looks_ahead = lists.last && threadIdx.x < 32;
            if (looks_ahead) following = fetch(p, __shfl_sync(whole_warp, next, 0));
            survivors = survivors <= slice_threads ? survive_few(lists, warp_sums)
                                                   : survive_many(lists, warp_sums);
            if (threadIdx.x == 0) lists.new_ends[survivors] = none;
            if (looks_ahead) put_down(p, following, layouts[turn ^ 1U]);
            __syncthreads();
            if (step == 1 && !lists.last) copy_spikes(p, here, buffers, 2);
        }
        copy_first_units(layouts[turn ^ 1U]);
        ask_for_slice();
        const slice_count<keys_are_times> count(p, here, buffers, survivors);
        taken += count.groups();
        // The other threads of the warp must have published their state, because this one may wait.
        __syncwarp();
        if (threadIdx.x == 0) taken += count.leading_group();
    }
    taken = device::warp_sum(taken);
    if (threadIdx.x % 32 == 0 && taken > 0)
        atomicAdd(&p.result->count, static_cast<unsigned long long>(taken));
}

// ---- host

// Returns the number of spikes of the last unit per slice with which all spikes of a slice fit with
// a margin for chance, or 0 if there is none.
std::uint32_t spikes_of_slice(const sweep_problem& p, std::span<const std::uint32_t> begins,
                              double length) {
    const auto size_of = [&](std::uint32_t step) {
        const std::uint32_t unit = p.steps[step].unit;
        return static_cast<double>(begins[unit + 1] - begins[unit]);
    };
    const double last = size_of(p.units - 1);
    constexpr std::uint32_t fewest = 64;
    for (std::uint32_t each = most_of_unit; each >= fewest; each -= each / 16) {
        bool fits = true;
        for (std::uint32_t step = 0; step + 1 < p.units; ++step) {
            const slice_step& s = p.steps[step];
            const double expected =
                size_of(step) * (each / last + (s.high_left - s.low_left) / std::max(1.0, length));
            // Six standard deviations, including those of the uncertain duration of the slice.
            const double at_most =
                expected + 6 * std::sqrt(expected + expected * expected / each) + 4;
            fits = fits && at_most <= most_of_unit;
        }
        if (fits) return each;
    }
    return 0;
}

// Divides time into slices. Returns nothing if slices cannot hold the spikes that an occurrence may
// span.
std::optional<sweep_problem> sweep_of(const device_problem& problem,
                                      const candidate_set& candidate) {
    const resident_trains trains = problem.data.trains();
    const resident_search search = problem.data.search();
    const auto units = candidate.units_of(0);
    const auto begins = problem.data.train_begins();
    sweep_problem p{};
    p.times = trains.time_low;
    p.order_keys = problem.ties == tie_rule::time ? trains.time_low : trains.position;
    p.trains = search.trains;
    p.buckets = search.buckets;
    p.units = static_cast<std::uint32_t>(units.size());
    const auto ticks = [](std::int64_t us) {
        return static_cast<std::uint32_t>(std::min<std::int64_t>(us, latest_tick));
    };
    for (std::uint32_t k = p.units; k-- > 0;) {
        slice_step& step = p.steps[k];
        step.unit = static_cast<std::uint32_t>(to_index(units[k]));
        if (k + 1 == p.units) continue;
        const interval_us& delay = problem.intervals[candidate.delays_of(0)[k]];
        step.delay = {ticks(delay.low), ticks(delay.high)};
        // In the merge nothing may follow `none`, not even when it is later by a delay's low bound.
        if (problem.data.length_us() + step.delay.low >= none) return {};
        step.low_left = later_by(p.steps[k + 1].low_left, step.delay.low);
        step.high_left = later_by(p.steps[k + 1].high_left, step.delay.high);
    }
    p.spikes_each = spikes_of_slice(p, begins, static_cast<double>(problem.data.length_us()));
    if (p.spikes_each == 0) return {};
    const std::uint32_t last = p.steps[p.units - 1].unit;
    p.slices =
        static_cast<std::uint32_t>(pieces_of(begins[last + 1] - begins[last], p.spikes_each));
    return p;
}

}  // namespace

std::optional<count_result> count_by_time_slices(const device_problem& problem,
                                                 const candidate_set& one_candidate) {
    const auto units = one_candidate.units_of(0);
    if (units.size() > most_units || problem.data.length_us() >= latest_tick) return {};
    const auto begins = problem.data.train_begins();
    for (const unit_id u : units) {
        if (begins[to_index(u)] == begins[to_index(u) + 1]) return count_result{{0}};
    }

    std::optional<sweep_problem> swept = sweep_of(problem, one_candidate);
    if (!swept) return {};
    sweep_problem& p = *swept;

    core::throw_if_stopped(problem.run.stop);
    const device::scoped_device scope(problem.ordinal);
    const device::stream on;
    const device::stopwatch watch;
    const std::uint32_t all_bounds = p.slices * p.units;
    const device::buffer<uint2> bounds(all_bounds, on);
    const device::buffer<std::uint32_t> before(p.slices, on);
    const device::buffer<std::uint64_t> states(p.slices, on);
    const device::buffer<sweep_result> result(1, on);
    const device::host_buffer<sweep_result> found(1);
    p.bounds = bounds.data();
    p.before = before.data();
    p.states = states.data();
    p.result = result.data();
    // More blocks than any GPU runs at once; the late ones find nothing left to do.
    constexpr std::uint32_t most_blocks = 2048;
    const std::uint32_t blocks = std::min(p.slices, most_blocks);
    const std::size_t shared = buffer_bytes(p.units);
    watch.start(on);
    find_slices<<<static_cast<std::uint32_t>(pieces_of(all_bounds, slice_threads)), slice_threads,
                  0, on.get()>>>(p);
    device::check(cudaGetLastError());
    if (problem.ties == tie_rule::time) {
        sweep_slices<true><<<blocks, slice_threads, shared, on.get()>>>(p);
    } else {
        sweep_slices<false><<<blocks, slice_threads, shared, on.get()>>>(p);
    }
    device::check(cudaGetLastError());
    watch.stop(on);
    result.download(found.span());
    on.wait();
    if (found.span()[0].failed != 0) return {};
    count_result counted{{found.span()[0].count}};
    counted.kernel_seconds = watch.seconds();
    return counted;
}

}  // namespace spikeweave::episodes
