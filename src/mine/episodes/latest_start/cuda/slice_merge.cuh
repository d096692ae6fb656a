#pragma once

#include <cstdint>

#include "device/warp.cuh"
#include "mine/episodes/devices/train_search.hpp"

/// One step of an episode within a slice of time in shared memory: a block of
/// `slice_threads` threads finds the spikes of a unit that survive.
namespace spikeweave::episodes::slice_merge {

using device::whole_warp;
constexpr std::uint32_t slice_threads = 128;
constexpr std::uint32_t slice_warps = slice_threads / 32;
// A thread marks its merged items in the bits of one word.
constexpr std::uint32_t most_merged = slice_threads * 32;
// Stands after the last item of the merge.
constexpr std::uint32_t none = UINT32_MAX;

// The sum over the threads before this one in the block, and over all of them.
struct block_prefix {
    std::uint32_t before;
    std::uint32_t all;
};

__device__ __forceinline__ block_prefix sum_over_block(std::uint32_t own,
                                                       std::uint32_t* warp_sums) {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    std::uint32_t up_to = own;
    for (std::uint32_t d = 1; d < 32; d *= 2) {
        const std::uint32_t left = __shfl_up_sync(whole_warp, up_to, d);
        if (lane >= d) up_to += left;
    }
    if (lane == 31) warp_sums[warp] = up_to;
    __syncthreads();
    std::uint32_t before = 0;
    std::uint32_t all = 0;
    for (std::uint32_t w = 0; w < slice_warps; ++w) {
        if (w == warp) before = all;
        all += warp_sums[w];
    }
    return {before + up_to - own, all};
}

// Returns the time before which a survivor of the previous unit must end for this spike to continue
// it. The spike continues the last one, unless the delay from it is too long.
__device__ __forceinline__ std::uint32_t latest_end(std::uint32_t time, interval_32 delay) {
    return max(time, delay.low) - delay.low;
}

// One thread's part of the merge of survivors and spikes. A survivor precedes the first spike that
// may continue it.
struct merged_part {
    std::uint32_t first_parent;
    std::uint32_t first_spike;
    std::uint32_t parents;  // a bit for each item that is a survivor of the previous unit
    std::uint32_t found;    // a bit for each item that is a surviving spike
};

// Returns how many of the first `items` of the merge are survivors.
__device__ __forceinline__ std::uint32_t parents_among(std::uint32_t items,
                                                       const std::uint32_t* ends,
                                                       std::uint32_t parents,
                                                       const std::uint32_t* spikes,
                                                       std::uint32_t size, interval_32 delay) {
    std::uint32_t low = items > size ? items - size : 0;
    std::uint32_t high = min(items, parents);
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        if (ends[middle] < latest_end(spikes[items - 1 - middle], delay)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Merges item by item without branches, because neighbouring threads seldom take the same ones.
struct merge_walk {
    const std::uint32_t* parent;
    const std::uint32_t* spike;
    std::uint32_t low;
    std::uint32_t width;  // width of the delay interval
    std::uint32_t end;    // end of the next survivor
    std::uint32_t limit;  // `latest_end` of the next spike
    // A spike survives if its `latest_end` is in [1, reach]. This excludes spikes at time 0 and
    // those before the first survivor.
    std::uint32_t reach;

    __device__ void take(std::uint32_t bit, std::uint32_t& parents, std::uint32_t& found) {
        const bool is_parent = end < limit;
        const bool survives = !is_parent && limit - 1 < reach;
        parents |= is_parent ? bit : 0;
        found |= survives ? bit : 0;
        reach = is_parent ? min(end, UINT32_MAX - width) + width : reach;
        parent += is_parent ? 1 : 0;
        spike += is_parent ? 0 : 1;
        const std::uint32_t next = is_parent ? *parent : *spike;
        end = is_parent ? next : end;
        limit = is_parent ? limit : max(next, low) - low;
    }
};

__device__ __forceinline__ merged_part merge(const std::uint32_t* ends, std::uint32_t parents,
                                             const std::uint32_t* spikes, std::uint32_t size,
                                             interval_32 delay) {
    const std::uint32_t all = parents + size;
    const std::uint32_t each = (all + slice_threads - 1) / slice_threads;
    const std::uint32_t begin = min(threadIdx.x * each, all);
    const std::uint32_t items = min(each, all - begin);
    const std::uint32_t first = parents_among(begin, ends, parents, spikes, size, delay);
    merged_part part{first, begin - first, 0, 0};
    const std::uint32_t width = delay.high - delay.low;
    merge_walk walk{ends + first,
                    spikes + part.first_spike,
                    delay.low,
                    width,
                    ends[first],
                    latest_end(spikes[part.first_spike], delay),
                    first == 0 ? 0 : later_by(ends[first - 1], width)};
    std::uint32_t bit = 1;
#pragma unroll 4
    for (std::uint32_t i = 0; i < items; ++i, bit <<= 1) walk.take(bit, part.parents, part.found);
    return part;
}

// One step of an episode in a slice.
struct step_lists {
    std::uint32_t step;
    bool last;
    interval_32 delay;
    const std::uint32_t* spikes;  // spikes of the step's unit
    std::uint32_t size;
    const std::uint32_t* order_keys;  // order keys of the same spikes; null if these are times
    const std::uint32_t*
        ends;  // ends of the survivors of the previous unit; in the first step its spikes
    const std::uint32_t* starts;  // starts of these survivors
    std::uint32_t parents;
    std::uint32_t* new_ends;
    std::uint32_t* new_starts;

    __device__ std::uint32_t start_of(std::uint32_t parent) const {
        return order_keys != nullptr && step == 1 ? parent : starts[parent];
    }
    __device__ std::uint32_t end_of(std::uint32_t spike) const {
        return order_keys != nullptr && last ? order_keys[spike] : spikes[spike];
    }
};

// With few survivors, each thread has one and searches for the spikes that survive because of it:
// those in its interval that no later survivor reaches. Returns the number of surviving spikes.
__device__ __forceinline__ std::uint32_t survive_few(const step_lists& lists,
                                                     std::uint32_t* warp_sums) {
    const std::uint32_t i = threadIdx.x;
    std::uint32_t first = 0;
    std::uint32_t size = 0;
    std::uint32_t start = 0;
    if (i < lists.parents) {
        const std::uint32_t end = lists.ends[i];
        const std::uint32_t next = i + 1 < lists.parents ? lists.ends[i + 1] : latest_tick;
        const std::uint32_t behind = later_by(end, lists.delay.low);
        const std::uint32_t limit =
            min(later_by(end, lists.delay.high), later_by(next, lists.delay.low));
        std::uint32_t behind_last = lists.size;
        while (first < behind_last) {
            const std::uint32_t middle = (first + behind_last) / 2;
            if (lists.spikes[middle] <= behind) {
                first = middle + 1;
            } else {
                behind_last = middle;
            }
        }
        while (first + size < lists.size && lists.spikes[first + size] <= limit) ++size;
        start = lists.start_of(i);
    }
    const block_prefix prefix = sum_over_block(size, warp_sums);
    for (std::uint32_t k = 0; k < size; ++k) {
        lists.new_ends[prefix.before + k] = lists.end_of(first + k);
        lists.new_starts[prefix.before + k] = start;
    }
    return prefix.all;
}

// The same for many survivors, with a merge.
__device__ __forceinline__ std::uint32_t survive_many(const step_lists& lists,
                                                      std::uint32_t* warp_sums) {
    const merged_part part =
        merge(lists.ends, lists.parents, lists.spikes, lists.size, lists.delay);
    const block_prefix prefix = sum_over_block(__popc(part.found), warp_sums);
    std::uint32_t* end = lists.new_ends + prefix.before;
    std::uint32_t* start = lists.new_starts + prefix.before;
    for (std::uint32_t left = part.found; left != 0; left &= left - 1) {
        const auto item = static_cast<std::uint32_t>(__ffs(static_cast<int>(left)) - 1);
        const std::uint32_t parents_before = __popc(part.parents & ((1U << item) - 1));
        *end++ = lists.end_of(part.first_spike + item - parents_before);
        *start++ = lists.start_of(part.first_parent + parents_before - 1);
    }
    return prefix.all;
}

}  // namespace spikeweave::episodes::slice_merge
