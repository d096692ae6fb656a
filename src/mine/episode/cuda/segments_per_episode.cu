// The published MTPE with Map-Concatenate: the time of one episode is cut into segments, one thread
// counts in each, and the segments are joined in log2(segments) rounds. The join is exact.
//
//   work per thread   one pass over the spikes of a segment and of its reach
//   shared memory     4 bytes
//   pays off          if there are too few episodes for one thread each
//
// While counting, a thread lists the survivors of its segment: the ends of occurrences, each with
// its latest start (docs/algorithms/episodes.md). Greedy counting from any state is a walk over
// these: an end is taken if its start is later than the last end taken. The published algorithm
// runs several machines per segment, one for each node of the episode, which begin so far before
// the segment that they can hold the occurrence that crosses the boundary. They correspond to walks
// that differ only in the time at which they begin. So one pass over the spikes makes all walks,
// where the published kernel ran as many state machines.
//
// Joining looks for the machine whose first end in its segment is the end at which the previous
// segment was left. There may be none, a case that the published join cannot handle; these
// boundaries are counted. Here the missing walk is then computed: it continues from that end, over
// further boundaries if necessary, until it takes an end that the next segment's own first walk
// takes, too. From there on the two are the same, because a walk depends only on the last end
// taken. They meet soon, because neither can overtake the other.
// pass each other.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episode/cuda/candidate_steps.cuh"
#include "mine/episode/cuda/plan.hpp"
#include "mine/episode/cuda/segments_per_episode.hpp"
#include "mine/episode/cuda/window_occupancy.hpp"

namespace spikeweave::episodes {
namespace {

constexpr unsigned threads = 128;
constexpr unsigned warp = 32;
constexpr std::uint32_t spikes_between_stop_checks = 1 << 14;
constexpr std::uint32_t none = UINT32_MAX;
// Nodes of longer episodes, or of longer recordings, are kept in device memory.
template <class Stamp>
constexpr std::size_t largest_in_registers = sizeof(Stamp) == sizeof(std::uint32_t) ? 8 : 4;

// A survivor of a node. `start` is a place, the number by which overlap is decided: the time or the
// index of a spike plus one, so that 0 is before all spikes.
template <class Stamp>
struct entry {
    Stamp time;
    Stamp start;
};

// One node: its unit, the delay that leads to it, and the survivors that may still be used: those
// that are too young for the next node, and the one before them.
template <class Stamp>
struct node {
    std::uint32_t unit;
    std::uint32_t capacity;
    Stamp low;
    Stamp high;
    entry<Stamp>* entries;
    std::uint32_t head;
    std::uint32_t length;
    entry<Stamp> oldest;
    entry<Stamp> newest;
};

// One greedy count. Ends are places; 0 means none.
template <class Stamp>
struct walk {
    Stamp last_end;
    Stamp first_end;  // first end within the segment and its reach
    Stamp crossing;   // first end beyond the segment
    std::uint32_t count;
};

// The segments of one candidate: segment p is (begin + p * piece, begin + (p + 1) * piece]; the
// last one extends to `end`.
struct cut {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t reach;  // the longest possible occurrence
    std::int64_t piece;
    std::uint32_t segments;

    __device__ std::int64_t boundary(std::uint32_t p) const {
        return p == segments ? end : begin + p * piece;
    }
};

// Each row is a walk: row (candidate * segments + segment) * size + node.
template <class Stamp>
struct segment_problem {
    resident_events events;
    resident_trains trains;
    const std::uint32_t* units;       // [candidate * size + node]
    const std::uint32_t* delays;      // [candidate * (size - 1) + node]
    const std::uint32_t* capacities;  // indexed like `delays`
    const step_of<Stamp>* steps;
    const std::uint64_t* entries_begin;  // first entry of each candidate
    entry<Stamp>* entries;
    node<Stamp>* nodes;  // [node * threads + thread], if they are not in registers
    walk<Stamp>* walks;  // likewise
    cut* cuts;           // one per candidate
    Stamp* first_end;    // one per row
    Stamp* crossing;
    std::uint32_t* count;
    const volatile int* stop;
    std::int64_t length;  // of the recording
    std::uint32_t candidates;
    std::uint32_t size;
    std::uint32_t most_segments;  // most segments of a candidate
    std::uint32_t segments;       // segments for which there is memory, a multiple of the warp size
    bool by_order;                // tie_rule::order

    __device__ std::uint32_t rows() const { return candidates * segments * size; }
};

// Converts a time to a place, or to 0 if it is before the first spike.
template <class Stamp>
__device__ Stamp coded(std::int64_t time) {
    constexpr auto most = static_cast<std::int64_t>(
        sizeof(Stamp) == sizeof(std::uint32_t) ? std::int64_t{UINT32_MAX} : INT64_MAX);
    if (time < 0) return 0;
    return static_cast<Stamp>(time >= most ? most : time + 1);
}

// The index of the first spike after `time`.
__device__ std::uint32_t first_after(const resident_events& events, std::int64_t time) {
    std::uint32_t begin = 0;
    std::uint32_t end = events.size;
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (time_of(events, middle) <= time) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// Returns the last end with which a walk that begins after `time` starts.
template <class Stamp>
__device__ Stamp place_of(const segment_problem<Stamp>& p, std::int64_t time) {
    return p.by_order ? static_cast<Stamp>(first_after(p.events, time)) : coded<Stamp>(time);
}

template <class Stamp>
__device__ entry<Stamp>& slot(const node<Stamp>& of, std::uint32_t after_head) {
    std::uint32_t at = of.head + after_head;
    if (at >= of.capacity) at -= of.capacity;
    return of.entries[std::uint64_t{at} * warp];
}

// Drops survivors that are followed by a later one that is also more than `low` ago.
template <class Stamp>
__device__ void drop_superseded(node<Stamp>& of, Stamp time, Stamp low) {
#pragma unroll 1
    while (of.length >= 2) {
        const entry<Stamp> second = of.length == 2 ? of.newest : slot(of, 1);
        if (time - second.time <= low) return;
        of.head = of.head + 1 == of.capacity ? 0 : of.head + 1;
        --of.length;
        of.oldest = second;
    }
}

// A list cannot overflow: after dropping, all survivors but one are within `low` of the next node,
// and the capacity is one more than the largest number of spikes of the unit in that time.
template <class Stamp>
__device__ void append(node<Stamp>& to, entry<Stamp> one, Stamp low) {
    drop_superseded(to, one.time, low);
    slot(to, to.length) = one;
    if (to.length == 0) to.oldest = one;
    to.newest = one;
    ++to.length;
}

// Processes one spike. Returns whether an occurrence ends at it, and sets its latest start.
template <class Stamp, class NodeAt>
__device__ bool ends_at(const NodeAt& at, int size, Stamp time, Stamp place, std::uint32_t unit,
                        Stamp& start) {
    bool ends = false;
#pragma unroll
    for (int k = size - 1; k > 0; --k) {
        node<Stamp>& here = at(k);
        node<Stamp>& before = at(k - 1);
        if (here.unit != unit || before.length == 0) continue;
        drop_superseded(before, time, here.low);
        const Stamp gap = time - before.oldest.time;
        if (gap <= here.low || gap > here.high) continue;
        if (k + 1 < size) {
            append(here, {time, before.oldest.start}, at(k + 1).low);
        } else {
            start = before.oldest.start;
            ends = true;
        }
    }
    if (at(0).unit == unit) append(at(0), {time, place}, at(1).low);
    return ends;
}

template <class Stamp, class NodeAt>
__device__ void prepare(const segment_problem<Stamp>& p, std::uint32_t candidate,
                        entry<Stamp>* entries, const NodeAt& at, int size) {
#pragma unroll
    for (int k = 0; k < size; ++k) {
        node<Stamp> one{};
        one.unit = p.units[std::uint64_t{candidate} * p.size + k];
        const std::uint64_t step = std::uint64_t{candidate} * (p.size - 1) + k;
        if (k > 0) {
            const step_of<Stamp> delay = p.steps[p.delays[step - 1]];
            one.low = delay.low;
            one.high = delay.high;
        }
        if (k + 1 < size) {
            one.capacity = p.capacities[step];
            one.entries = entries;
            entries += std::uint64_t{one.capacity} * warp;
        }
        at(k) = one;
    }
}

// Calls `see` for the spikes from `first` on until it returns false.
template <class Stamp, class See>
__device__ void for_each_spike(const segment_problem<Stamp>& p, std::uint32_t first,
                               const See& see) {
    std::uint32_t until_check = spikes_between_stop_checks;
    for (std::uint64_t four = first & ~3U; four < p.events.size; four += 4) {
        uint4 units{};
        uint4 times{};
        const bool whole = four + 4 <= p.events.size;
        if (whole) {
            units = *reinterpret_cast<const uint4*>(p.events.unit + four);
            times = *reinterpret_cast<const uint4*>(p.events.time_low + four);
        }
#pragma unroll 1
        for (unsigned j = 0; j < 4; ++j) {
            const auto i = static_cast<std::uint32_t>(four + j);
            if (i < first) continue;
            if (i >= p.events.size) return;
            std::uint32_t unit = j < 2 ? (j == 0 ? units.x : units.y) : j == 2 ? units.z : units.w;
            Stamp time = j < 2 ? (j == 0 ? times.x : times.y) : j == 2 ? times.z : times.w;
            if (!whole) unit = p.events.unit[i];
            if (!whole || sizeof(Stamp) > sizeof(std::uint32_t))
                time = stamp_of<Stamp>(p.events, i);
            if (!see(i, time, unit)) return;
        }
        until_check -= 4;
        if (until_check == 0) {
            if (*p.stop != 0) return;
            until_check = spikes_between_stop_checks;
        }
    }
}

__device__ bool stop_asked(const volatile int* stop) {
    __shared__ bool asked;
    if (threadIdx.x == 0) asked = *stop != 0;
    __syncthreads();
    return asked;
}

// Cuts time as the CPU strategy `segments` does: from the candidate's first spike to its last.
template <class Stamp>
__global__ void __launch_bounds__(threads) cut_time(const segment_problem<Stamp> p) {
    const std::uint32_t candidate = blockIdx.x * threads + threadIdx.x;
    if (candidate >= p.candidates) return;
    std::int64_t first = INT64_MAX;
    std::int64_t last = -1;
    cut one{};
    for (std::uint32_t k = 0; k < p.size; ++k) {
        const std::uint32_t unit = p.units[std::uint64_t{candidate} * p.size + k];
        const std::uint32_t begin = p.trains.begin[unit];
        const std::uint32_t end = p.trains.begin[unit + 1];
        if (begin < end) {
            first = min(first, time_of(p.trains, unit, begin));
            last = max(last, time_of(p.trains, unit, end - 1));
        }
        if (k == 0) continue;
        const Stamp high = p.steps[p.delays[std::uint64_t{candidate} * (p.size - 1) + k - 1]].high;
        one.reach += min(static_cast<std::int64_t>(high), p.length + 1);
    }
    one.begin = last < 0 ? 0 : first - 1;
    one.end = last < 0 ? 0 : last;
    const std::int64_t length = one.end - one.begin;
    one.segments = static_cast<std::uint32_t>(
        max(std::int64_t{1}, min(length / one.reach, std::int64_t{p.most_segments})));
    one.piece = length / one.segments;
    p.cuts[candidate] = one;
}

// `Size` 0 stands for any size, with nodes and walks in device memory.
template <int Size, class Stamp>
__global__ void __launch_bounds__(threads, 1) walk_segments(const segment_problem<Stamp> p) {
    if (stop_asked(p.stop)) return;
    const std::uint32_t thread = blockIdx.x * threads + threadIdx.x;
    const std::uint32_t candidate = thread / p.segments;
    const std::uint32_t segment = thread % p.segments;
    if (candidate >= p.candidates) return;
    const cut own_cut = p.cuts[candidate];
    if (segment >= own_cut.segments) return;

    const int size = Size > 0 ? Size : static_cast<int>(p.size);
    const std::uint64_t all = std::uint64_t{p.candidates} * p.segments;
    node<Stamp> own_nodes[Size > 0 ? Size : 1];
    walk<Stamp> own_walks[Size > 0 ? Size : 1];
    const auto at = [&](int k) -> node<Stamp>& {
        if constexpr (Size > 0) {
            return own_nodes[k];
        } else {
            return p.nodes[std::uint64_t(k) * all + thread];
        }
    };
    const auto walk_at = [&](int k) -> walk<Stamp>& {
        if constexpr (Size > 0) {
            return own_walks[k];
        } else {
            return p.walks[std::uint64_t(k) * all + thread];
        }
    };
    std::uint64_t slots = 0;
    for (std::uint32_t k = 0; k + 1 < p.size; ++k)
        slots += p.capacities[std::uint64_t{candidate} * (p.size - 1) + k];
    prepare(p, candidate,
            p.entries + p.entries_begin[candidate] + segment / warp * warp * slots + segment % warp,
            at, size);

    const std::int64_t begin = own_cut.boundary(segment);
    const std::int64_t end = own_cut.boundary(segment + 1);
    std::int64_t from = begin;
#pragma unroll
    for (int k = 0; k < size; ++k) {
        if (k > 0) from -= min(static_cast<std::int64_t>(at(k).high), p.length + 1);
        walk_at(k) = {place_of(p, from), 0, 0, 0};
    }
    const Stamp after = coded<Stamp>(begin);
    const Stamp within_reach = coded<Stamp>(begin + own_cut.reach);
    const Stamp last = coded<Stamp>(end);
    const Stamp last_crossing = coded<Stamp>(end + own_cut.reach);
    int crossed = 0;
    for_each_spike(p, first_after(p.events, from),
                   [&](std::uint32_t i, Stamp time, std::uint32_t unit) {
                       const Stamp code = time + 1;
                       if (code > last_crossing) return false;
                       const Stamp place = p.by_order ? static_cast<Stamp>(i + 1) : code;
                       Stamp start = 0;
                       if (!ends_at(at, size, time, place, unit, start)) return true;
#pragma unroll
                       for (int k = 0; k < size; ++k) {
                           walk<Stamp>& one = walk_at(k);
                           if (one.crossing != 0 || start <= one.last_end) continue;
                           one.last_end = place;
                           if (code <= after) continue;
                           if (one.first_end == 0 && code <= within_reach) one.first_end = place;
                           if (code <= last) {
                               ++one.count;
                           } else {
                               one.crossing = place;
                               ++crossed;
                           }
                       }
                       return crossed < size;
                   });
    const std::uint32_t row = thread * p.size;
#pragma unroll
    for (int k = 0; k < size; ++k) {
        p.first_end[row + k] = walk_at(k).first_end;
        p.crossing[row + k] = walk_at(k).crossing;
        p.count[row + k] = walk_at(k).count;
    }
}

// The rest of a count from a row on: `sum`, plus the rest from row `next` on.
struct chain {
    std::uint32_t* next;
    std::int64_t* sum;
};

// The published join: each walk continues with the first walk of the next segment whose first end
// is this one's crossing. `sum` is the count in this segment or, with `misses`, 1 if there is no
// such walk; the published algorithm then continues with the next segment's own walk.
template <class Stamp>
__global__ void __launch_bounds__(threads)
    join(const segment_problem<Stamp> p, bool misses, const chain to,
         std::uint32_t* __restrict__ missing, std::uint32_t* __restrict__ missing_count) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= p.rows()) return;
    const auto row = static_cast<std::uint32_t>(i);
    const std::uint32_t thread = row / p.size;
    const std::uint32_t segment = thread % p.segments;
    const std::uint32_t segments = p.cuts[thread / p.segments].segments;
    to.next[row] = none;
    to.sum[row] = segment < segments && !misses ? p.count[row] : 0;
    if (segment + 1 >= segments) return;
    const std::uint32_t next = (thread + 1) * p.size;
    std::uint32_t k = 0;
    while (k < p.size && p.first_end[next + k] != p.crossing[row]) ++k;
    if (k < p.size) {
        to.next[row] = next + k;
    } else if (misses) {
        to.next[row] = next;
        to.sum[row] = 1;
    } else {
        missing[atomicAdd(missing_count, 1)] = row;
    }
}

// Continues a walk over a boundary at which the published join finds nothing, until it meets a
// segment's own walk.
template <int Size, class Stamp>
__global__ void __launch_bounds__(threads, 1)
    walk_on(const segment_problem<Stamp> p, const std::uint32_t* __restrict__ missing,
            std::uint32_t count, std::uint64_t slots, const chain to) {
    if (stop_asked(p.stop)) return;
    const std::uint32_t thread = blockIdx.x * threads + threadIdx.x;
    if (thread >= count) return;
    const std::uint32_t row = missing[thread];
    const std::uint32_t candidate = row / p.size / p.segments;
    const cut own_cut = p.cuts[candidate];

    const int size = Size > 0 ? Size : static_cast<int>(p.size);
    const std::uint64_t all = std::uint64_t{p.candidates} * p.segments;
    node<Stamp> own_nodes[Size > 0 ? Size : 1];
    const auto at = [&](int k) -> node<Stamp>& {
        if constexpr (Size > 0) {
            return own_nodes[k];
        } else {
            return p.nodes[std::uint64_t(k) * all + thread];
        }
    };
    prepare(p, candidate, p.entries + thread / warp * warp * slots + thread % warp, at, size);

    // The true walk has taken an end beyond the boundary; the segment's own walk begins at the
    // boundary.
    std::uint32_t segment = row / p.size % p.segments + 1;
    const std::int64_t begin = own_cut.boundary(segment);
    Stamp last = coded<Stamp>(own_cut.boundary(segment + 1));
    Stamp true_end = p.crossing[row];
    Stamp own_end = place_of(p, begin);
    std::int64_t taken = 1;
    std::int64_t own_taken = 0;
    bool met = false;
    for_each_spike(
        p, first_after(p.events, begin), [&](std::uint32_t i, Stamp time, std::uint32_t unit) {
            const Stamp code = time + 1;
            if (code > last) {
                if (segment + 1 == own_cut.segments) return false;
                do {
                    last = coded<Stamp>(own_cut.boundary(++segment + 1));
                } while (code > last && segment + 1 < own_cut.segments);
                own_end =
                    p.by_order ? static_cast<Stamp>(i) : coded<Stamp>(own_cut.boundary(segment));
                own_taken = 0;
            }
            const Stamp place = p.by_order ? static_cast<Stamp>(i + 1) : code;
            Stamp start = 0;
            if (ends_at(at, size, time, place, unit, start)) {
                if (start > true_end) {
                    true_end = place;
                    ++taken;
                }
                if (start > own_end) {
                    own_end = place;
                    ++own_taken;
                }
            }
            met = true_end == own_end;
            return !met;
        });
    to.next[row] = met ? (candidate * p.segments + segment) * p.size : none;
    to.sum[row] = p.count[row] + taken - (met ? own_taken : 0);
}

// Extends each row by the rest of its next row: after r rounds, it covers 2^r rows.
__global__ void __launch_bounds__(threads)
    jump(std::uint32_t rows, const chain from, const chain to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= rows) return;
    const std::uint32_t next = from.next[i];
    to.next[i] = next == none ? none : from.next[next];
    to.sum[i] = from.sum[i] + (next == none ? 0 : from.sum[next]);
}

__global__ void __launch_bounds__(threads)
    take_first_rows(std::uint32_t candidates, std::uint32_t rows_of_each, const chain from,
                    std::int64_t* __restrict__ to) {
    const std::uint32_t candidate = blockIdx.x * threads + threadIdx.x;
    if (candidate < candidates) to[candidate] = from.sum[std::uint64_t{candidate} * rows_of_each];
}

template <class Stamp>
struct kernels_of_size {
    void (*walk_segments)(segment_problem<Stamp>);
    void (*walk_on)(segment_problem<Stamp>, const std::uint32_t*, std::uint32_t, std::uint64_t,
                    chain);
};

template <int Size, class Stamp>
constexpr kernels_of_size<Stamp> kernels{walk_segments<Size, Stamp>, walk_on<Size, Stamp>};

template <class Stamp>
kernels_of_size<Stamp> kernels_for(std::size_t size) {
    switch (size <= largest_in_registers<Stamp> ? size : 0) {
        case 2:
            return kernels<2, Stamp>;
        case 3:
            return kernels<3, Stamp>;
        case 4:
            return kernels<4, Stamp>;
        default:
            break;
    }
    if constexpr (largest_in_registers<Stamp> == 8) {
        switch (size) {
            case 5:
                return kernels<5, Stamp>;
            case 6:
                return kernels<6, Stamp>;
            case 7:
                return kernels<7, Stamp>;
            case 8:
                return kernels<8, Stamp>;
            default:
                break;
        }
    }
    return kernels<0, Stamp>;
}

unsigned blocks_for(std::uint64_t all) {
    return static_cast<unsigned>(pieces_of(all, threads));
}

struct chain_memory {
    chain_memory(std::size_t rows, const device::stream& on) : next(rows, on), sum(rows, on) {}
    chain view() const { return {next.data(), sum.data()}; }

    device::buffer<std::uint32_t> next;
    device::buffer<std::int64_t> sum;
};

// Returns the work space of one candidate in bytes.
template <class Stamp>
std::uint64_t bytes_of(std::uint64_t segments, std::uint64_t size, std::uint64_t slots) {
    constexpr std::uint64_t row = 2 * sizeof(Stamp) + 2 * sizeof(std::uint32_t) +
                                  2 * (sizeof(std::uint32_t) + sizeof(std::int64_t));
    constexpr std::uint64_t machine = sizeof(node<Stamp>) + sizeof(walk<Stamp>);
    return segments * (size * (row + (size > largest_in_registers<Stamp> ? machine : 0)) +
                       slots * sizeof(entry<Stamp>));
}

template <class Stamp>
class segment_counter {
public:
    segment_counter(const device_problem& problem, const candidate_set& candidates,
                    std::uint32_t most_segments)
        : problem_(problem),
          candidates_(candidates),
          most_segments_(most_segments),
          work_space_(work_space_bytes(device::limits_of(problem.ordinal))),
          units_(plain(candidates.units), on_),
          delays_(candidates.delays, on_),
          steps_(steps_of<Stamp>(problem), on_) {
        occupancy_answers within = most_spikes_too_young(problem, candidates);
        result_.kernel_seconds = within.kernel_seconds;
        for (std::uint32_t& capacity : within.most) ++capacity;
        slots_.resize(candidates.count());
        for (std::size_t i = 0; i < within.most.size(); ++i)
            slots_[i / (candidates.size - 1)] += within.most[i];
        capacities_ = {within.most, on_};
        const std::uint64_t worst = *std::max_element(slots_.begin(), slots_.end());
        while (most_segments_ > warp &&
               bytes_of<Stamp>(most_segments_, candidates.size, worst) > work_space_)
            most_segments_ /= 2;
        segments_ = static_cast<std::uint32_t>(pieces_of(most_segments_, warp)) * warp;
    }

    count_result count() {
        result_.counts.reserve(candidates_.count());
        for (std::size_t first = 0; first < candidates_.count();) {
            std::size_t end = first;
            std::uint64_t bytes = 0;
            do {
                bytes += bytes_of<Stamp>(segments_, candidates_.size, slots_[end++]);
            } while (end < candidates_.count() && (end - first + 1) * rows_of_each() <= most_rows &&
                     bytes + bytes_of<Stamp>(segments_, candidates_.size, slots_[end]) <=
                         work_space_);
            count_chunk(first, end);
            first = end;
        }
        return std::move(result_);
    }

private:
    static constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;

    std::uint64_t rows_of_each() const { return std::uint64_t{segments_} * candidates_.size; }
    void count_chunk(std::size_t first, std::size_t end);
    template <class Launch>
    void timed(const Launch& launch) {
        watch_.start(on_);
        launch();
        device::check(cudaGetLastError());
        watch_.stop(on_);
        stop_.wait(on_, problem_.run.stop);
        result_.kernel_seconds += watch_.seconds();
    }
    // Returns the total of each candidate, which is that of its first row.
    std::vector<std::int64_t> totals(std::uint32_t candidates, chain_memory& from,
                                     chain_memory& spare);

    const device_problem& problem_;
    const candidate_set& candidates_;
    std::uint32_t most_segments_;
    std::uint32_t segments_ = 0;  // segments in memory, a multiple of the warp size
    std::uint64_t work_space_;
    std::vector<std::uint64_t> slots_;  // number of slots of one thread, for each candidate
    device::stream on_;
    device::buffer<std::uint32_t> units_;
    device::buffer<std::uint32_t> delays_;
    device::buffer<step_of<Stamp>> steps_;
    device::buffer<std::uint32_t> capacities_;
    device::stop_flag stop_;
    device::stopwatch watch_;
    count_result result_;
};

template <class Stamp>
std::vector<std::int64_t> segment_counter<Stamp>::totals(std::uint32_t candidates,
                                                         chain_memory& from, chain_memory& spare) {
    const auto rows = static_cast<std::uint32_t>(candidates * rows_of_each());
    const device::buffer<std::int64_t> of_each(candidates, on_);
    timed([&] {
        for (auto rounds = std::bit_width(segments_); rounds > 0; --rounds) {
            jump<<<blocks_for(rows), threads, 0, on_.get()>>>(rows, from.view(), spare.view());
            std::swap(from, spare);
        }
        take_first_rows<<<blocks_for(candidates), threads, 0, on_.get()>>>(
            candidates, static_cast<std::uint32_t>(rows_of_each()), from.view(), of_each.data());
    });
    return of_each.downloaded();
}

template <class Stamp>
void segment_counter<Stamp>::count_chunk(std::size_t first, std::size_t end) {
    const auto candidates = static_cast<std::uint32_t>(end - first);
    const std::uint64_t rows = candidates * rows_of_each();
    const std::uint64_t machines = candidates_.size <= largest_in_registers<Stamp> ? 0 : rows;
    std::vector<std::uint64_t> begins;
    begins.reserve(candidates);
    std::uint64_t entries_size = 0;
    std::uint64_t worst = 0;
    for (std::size_t c = first; c < end; ++c) {
        begins.push_back(entries_size);
        entries_size += slots_[c] * segments_;
        worst = std::max(worst, slots_[c]);
    }
    const device::buffer<std::uint64_t> entries_begin(begins, on_);
    const device::buffer<entry<Stamp>> entries(entries_size, on_);
    const device::buffer<node<Stamp>> nodes(machines, on_);
    const device::buffer<walk<Stamp>> walks(machines, on_);
    const device::buffer<cut> cuts(candidates, on_);
    const device::buffer<Stamp> first_end(rows, on_);
    const device::buffer<Stamp> crossing(rows, on_);
    const device::buffer<std::uint32_t> count(rows, on_);
    const device::buffer<std::uint32_t> missing(rows, on_);
    device::buffer<std::uint32_t> missing_count(1, on_);
    chain_memory chains(rows, on_);
    chain_memory spare(rows, on_);
    const segment_problem<Stamp> p{
        .events = problem_.data.events(),
        .trains = problem_.data.trains(),
        .units = units_.data() + first * candidates_.size,
        .delays = delays_.data() + first * (candidates_.size - 1),
        .capacities = capacities_.data() + first * (candidates_.size - 1),
        .steps = steps_.data(),
        .entries_begin = entries_begin.data(),
        .entries = entries.data(),
        .nodes = nodes.data(),
        .walks = walks.data(),
        .cuts = cuts.data(),
        .first_end = first_end.data(),
        .crossing = crossing.data(),
        .count = count.data(),
        .stop = stop_.flag(),
        .length = static_cast<std::int64_t>(problem_.data.length_us()),
        .candidates = candidates,
        .size = static_cast<std::uint32_t>(candidates_.size),
        .most_segments = most_segments_,
        .segments = segments_,
        .by_order = problem_.ties == tie_rule::order};
    const kernels_of_size<Stamp> kernel = kernels_for<Stamp>(candidates_.size);

    missing_count.fill(0);
    timed([&] {
        cut_time<<<blocks_for(candidates), threads, 0, on_.get()>>>(p);
        kernel.walk_segments<<<blocks_for(std::uint64_t{candidates} * segments_), threads, 0,
                               on_.get()>>>(p);
        join<<<blocks_for(rows), threads, 0, on_.get()>>>(p, false, chains.view(), missing.data(),
                                                          missing_count.data());
    });
    const std::uint32_t misses = missing_count.downloaded().front();
    const std::uint64_t together =
        std::min(entries_size / (warp * worst) * warp, std::uint64_t{candidates} * segments_);
    for (std::uint64_t done = 0; done < misses; done += together) {
        const auto now = static_cast<std::uint32_t>(std::min(together, misses - done));
        timed([&] {
            kernel.walk_on<<<blocks_for(now), threads, 0, on_.get()>>>(p, missing.data() + done,
                                                                       now, worst, chains.view());
        });
    }
    for (const std::int64_t total : totals(candidates, chains, spare))
        result_.counts.push_back(static_cast<std::uint64_t>(total));
    if (misses == 0) return;
    timed([&] {
        join<<<blocks_for(rows), threads, 0, on_.get()>>>(p, true, chains.view(), nullptr, nullptr);
    });
    for (const std::int64_t total : totals(candidates, chains, spare))
        result_.merge_misses += static_cast<std::uint64_t>(total);
}

}  // namespace

count_result count_in_segments(const device_problem& problem, const candidate_set& candidates,
                               std::uint32_t segments) {
    if (candidates.count() == 0) return {};
    const device::scoped_device scope(problem.ordinal);
    // A place is one more than a time and has to fit as well.
    return problem.data.length_us() < std::numeric_limits<std::uint32_t>::max()
               ? segment_counter<std::uint32_t>(problem, candidates, segments).count()
               : segment_counter<std::uint64_t>(problem, candidates, segments).count();
}

count_result count_by_segments_per_episode_on_device(const device_problem& problem,
                                                     const candidate_set& candidates,
                                                     std::uint64_t) {
    return count_in_segments(problem, candidates,
                             segments_for(candidates.count(), device::limits_of(problem.ordinal)));
}

}  // namespace spikeweave::episodes
