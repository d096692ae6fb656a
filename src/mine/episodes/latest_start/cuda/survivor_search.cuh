#pragma once

#include <cstdint>

namespace spikeweave::episodes {

/// Returns the index of the first of the ascending `order_keys` [begin, end) that is not before
/// `order_key`; `end` if there is none.
__device__ inline std::uint64_t first_not_before(const std::uint32_t* order_keys,
                                                 std::uint64_t begin, std::uint64_t end,
                                                 std::uint32_t order_key) {
    while (begin < end) {
        const std::uint64_t middle = begin + (end - begin) / 2;
        if (order_keys[middle] < order_key) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

}  // namespace spikeweave::episodes
