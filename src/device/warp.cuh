#pragma once

#include <cstdint>

namespace spikeweave::device {

/// The number of threads that an NVIDIA GPU runs together, and the mask of all of them.
inline constexpr unsigned warp = 32;
inline constexpr unsigned whole_warp = 0xffffffff;

/// Returns the sum of the values of all threads of a warp, modulo 2^32, to each of them.
__device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(whole_warp, value);
#else
    for (unsigned away = warp / 2; away > 0; away /= 2)
        value += __shfl_xor_sync(whole_warp, value, away);
    return value;
#endif
}

/// Returns the least of the values of all threads of a warp to each of them.
__device__ __forceinline__ std::uint32_t warp_min(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(whole_warp, value);
#else
    for (unsigned away = warp / 2; away > 0; away /= 2)
        value = min(value, __shfl_xor_sync(whole_warp, value, away));
    return value;
#endif
}

}  // namespace spikeweave::device
