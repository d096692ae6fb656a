#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace spikeweave::episodes {

/// A delay interval (low, high] in ticks of the device, at most `latest_tick`.
struct interval_32 {
    std::uint32_t low;
    std::uint32_t high;
};

/// A time later than any spike, by at least one tick, so that "one tick after a spike" never
/// overflows.
constexpr std::uint32_t latest_tick = UINT32_MAX;

/// Adds times without exceeding `latest_tick`, after which there are no spikes.
SPIKEWEAVE_HD inline std::uint32_t later_by(std::uint32_t time, std::uint32_t delay) {
    return time > latest_tick - delay ? latest_tick : time + delay;
}

/// The positions of one unit's spikes and of its search table in the arrays of all units.
struct train_layout {
    std::uint32_t begin;
    std::uint32_t size;
    std::uint32_t buckets_begin;
    std::uint32_t bucket_count;  ///< without the one after the last, which holds `size`
    std::int32_t shift;
};

/// Makes a layout whose table has about one bucket per eight spikes if spikes were spread evenly.
/// @param last time of the last spike of all trains
constexpr train_layout layout_of_train(std::uint32_t begin, std::uint32_t size,
                                       std::uint32_t buckets_begin, std::uint32_t last) {
    const std::uint32_t wanted = size / 8 > 0 ? size / 8 : 1;
    std::int32_t shift = 0;
    while (last >> shift > wanted) ++shift;
    return {begin, size, buckets_begin, (last >> shift) + 1, shift};
}

/// One unit's spikes. buckets[b] is the index of the first one at or after b << shift.
struct searched_train {
    const std::uint32_t* times;
    const std::uint32_t* buckets;
    std::uint32_t size;
    std::uint32_t bucket_count;
    std::int32_t shift;

    /// Index of the first spike later than `time`, `size` if there is none.
    SPIKEWEAVE_HD std::uint32_t first_after(std::uint32_t time) const {
        const std::uint32_t bucket = time >> shift;
        if (bucket >= bucket_count) return size;
        std::uint32_t low = buckets[bucket];
        std::uint32_t high = buckets[bucket + 1];
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (times[middle] <= time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
};

}  // namespace spikeweave::episodes
