#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.hpp"
#include "device/warp.cuh"
#include "mine/episodes/devices/candidate_steps.cuh"

/// Greedy counts in segments of time: the state of a thread while it counts, and the kernels that
/// count. segments_per_episode.cu describes the algorithm.
namespace spikeweave::episodes::segment_walks {

using device::warp;
constexpr unsigned threads = 128;
constexpr std::uint32_t spikes_between_stop_checks = 1 << 14;
constexpr std::uint32_t none = UINT32_MAX;
// Nodes of longer episodes, or of longer recordings, are kept in device memory.
template <class Stamp>
constexpr std::size_t largest_in_registers = sizeof(Stamp) == sizeof(std::uint32_t) ? 8 : 4;

// A survivor of a node. `start` is an order key, the number by which overlap is decided: the time
// or the index of a spike plus one, so that 0 is before all spikes.
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

// One greedy count. Ends are order keys; 0 means none.
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

// Converts a time to an order key, or to 0 if it is before the first spike.
template <class Stamp>
__device__ Stamp coded(std::int64_t time) {
    constexpr auto most = static_cast<std::int64_t>(
        sizeof(Stamp) == sizeof(std::uint32_t) ? std::int64_t{UINT32_MAX} : INT64_MAX);
    if (time < 0) return 0;
    return static_cast<Stamp>(time >= most ? most : time + 1);
}

// The index of the first spike after `time`.
__device__ inline std::uint32_t first_after(const resident_events& events, std::int64_t time) {
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
__device__ Stamp order_key_of(const segment_problem<Stamp>& p, std::int64_t time) {
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
__device__ bool ends_at(const NodeAt& at, int size, Stamp time, Stamp order_key, std::uint32_t unit,
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
    if (at(0).unit == unit) append(at(0), {time, order_key}, at(1).low);
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

// The rest of a count from a row on: `sum`, plus the rest from row `next` on.
struct chain {
    std::uint32_t* next;
    std::int64_t* sum;
};

template <class Stamp>
struct walk_kernels {
    void (*cut_time)(segment_problem<Stamp>);
    void (*walk_segments)(segment_problem<Stamp>);
    void (*walk_on)(segment_problem<Stamp>, const std::uint32_t*, std::uint32_t, std::uint64_t,
                    chain);
};

/// Returns the kernels for episodes of this size. Stamps have 32 or 64 bits.
template <class Stamp>
walk_kernels<Stamp> kernels_for(std::size_t size);

}  // namespace spikeweave::episodes::segment_walks
