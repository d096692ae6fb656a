#pragma once

#include <cstdint>

namespace spikeweave::episodes {

/// Returns the index of the first of the ascending `places` [begin, end) that is not before
/// `place`; `end` if there is none.
__device__ inline std::uint64_t first_not_before(const std::uint32_t* places, std::uint64_t begin,
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

}  // namespace spikeweave::episodes
