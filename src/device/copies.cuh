#pragma once

#include <cstdint>

/// Copies from global to shared memory that continue while their thread computes. Before compute
/// capability 8.0 a thread copies at once, and waiting is over at once.
namespace spikeweave::device {

/// Starts copying `bytes` (4 or 16) between addresses that are aligned to as many.
template <unsigned bytes>
__device__ __forceinline__ void start_copy(void* to, const void* from) {
    static_assert(bytes == 4 || bytes == 16);
#if __CUDA_ARCH__ >= 800
    const auto there = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(there), "l"(from) : "memory");
#else
    if constexpr (bytes == 16)
        *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
    else
        *static_cast<std::uint32_t*>(to) = *static_cast<const std::uint32_t*>(from);
#endif
}

/// Ends a group of the copies that this thread has started.
__device__ __forceinline__ void end_copy_group() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all groups of this thread but the last one.
__device__ __forceinline__ void wait_for_all_but_one_copy_group() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

/// Waits for all copies of this thread.
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace spikeweave::device
