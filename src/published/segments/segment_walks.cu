// The kernels that cut time into segments and count in them.

#include "published/segments/segment_walks.cuh"

namespace spikeweave::episodes::segment_walks {
namespace {

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

// The bounds of a segment as order keys.
template <class Stamp>
struct segment_bounds {
    Stamp after;
    Stamp within_reach;
    Stamp last;
    Stamp last_crossing;
};

// Offers an occurrence to a walk. Returns whether the walk leaves the segment with it.
template <class Stamp>
__device__ __forceinline__ bool crosses(walk<Stamp>& one, const segment_bounds<Stamp>& bounds,
                                        Stamp code, Stamp order_key, Stamp start) {
    if (one.crossing != 0 || start <= one.last_end) return false;
    one.last_end = order_key;
    if (code <= bounds.after) return false;
    if (one.first_end == 0 && code <= bounds.within_reach) one.first_end = order_key;
    if (code <= bounds.last) {
        ++one.count;
        return false;
    }
    one.crossing = order_key;
    return true;
}

template <class Stamp>
__device__ __forceinline__ void write_row(const segment_problem<Stamp>& p, std::uint32_t row,
                                          const walk<Stamp>& one) {
    p.first_end[row] = one.first_end;
    p.crossing[row] = one.crossing;
    p.count[row] = one.count;
}

// The number of entries that a thread needs for all nodes of a candidate.
template <class Stamp>
__device__ __forceinline__ std::uint64_t slots_of(const segment_problem<Stamp>& p,
                                                  std::uint32_t candidate) {
    std::uint64_t slots = 0;
    for (std::uint32_t k = 0; k + 1 < p.size; ++k)
        slots += p.capacities[std::uint64_t{candidate} * (p.size - 1) + k];
    return slots;
}

// Takes an occurrence if it starts after the end of the one before.
template <class Stamp>
__device__ __forceinline__ void take_if_free(Stamp& last_end, std::int64_t& taken, Stamp start,
                                             Stamp order_key) {
    if (start > last_end) {
        last_end = order_key;
        ++taken;
    }
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
    const std::uint64_t slots = slots_of(p, candidate);
    prepare(p, candidate,
            p.entries + p.entries_begin[candidate] + segment / warp * warp * slots + segment % warp,
            at, size);

    const std::int64_t begin = own_cut.boundary(segment);
    const std::int64_t end = own_cut.boundary(segment + 1);
    std::int64_t from = begin;
#pragma unroll
    for (int k = 0; k < size; ++k) {
        if (k > 0) from -= min(static_cast<std::int64_t>(at(k).high), p.length + 1);
        walk_at(k) = {order_key_of(p, from), 0, 0, 0};
    }
    const segment_bounds<Stamp> bounds{coded<Stamp>(begin), coded<Stamp>(begin + own_cut.reach),
                                       coded<Stamp>(end), coded<Stamp>(end + own_cut.reach)};
    int crossed = 0;
    for_each_spike(p, first_after(p.events, from),
                   [&](std::uint32_t i, Stamp time, std::uint32_t unit) {
                       const Stamp code = time + 1;
                       if (code > bounds.last_crossing) return false;
                       const Stamp order_key = p.by_order ? static_cast<Stamp>(i + 1) : code;
                       Stamp start = 0;
                       if (!ends_at(at, size, time, order_key, unit, start)) return true;
#pragma unroll
                       for (int k = 0; k < size; ++k)
                           if (crosses(walk_at(k), bounds, code, order_key, start)) ++crossed;
                       return crossed < size;
                   });
    const std::uint32_t row = thread * p.size;
#pragma unroll
    for (int k = 0; k < size; ++k) write_row(p, row + k, walk_at(k));
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
    Stamp own_end = order_key_of(p, begin);
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
            const Stamp order_key = p.by_order ? static_cast<Stamp>(i + 1) : code;
            Stamp start = 0;
            if (ends_at(at, size, time, order_key, unit, start)) {
                take_if_free(true_end, taken, start, order_key);
                take_if_free(own_end, own_taken, start, order_key);
            }
            met = true_end == own_end;
            return !met;
        });
    to.next[row] = met ? (candidate * p.segments + segment) * p.size : none;
    to.sum[row] = p.count[row] + taken - (met ? own_taken : 0);
}

template <int Size, class Stamp>
constexpr walk_kernels<Stamp> kernels{cut_time<Stamp>, walk_segments<Size, Stamp>,
                                      walk_on<Size, Stamp>};

}  // namespace

template <class Stamp>
walk_kernels<Stamp> kernels_for(std::size_t size) {
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

template walk_kernels<std::uint32_t> kernels_for(std::size_t size);
template walk_kernels<std::uint64_t> kernels_for(std::size_t size);

}  // namespace spikeweave::episodes::segment_walks
