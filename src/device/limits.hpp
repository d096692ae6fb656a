#pragma once

#include <cstddef>
#include <cstdint>

namespace spikeweave::device {

/// The properties of a device that a plan needs. These are plain numbers, so that plans can be
/// tested on machines without a device.
struct device_limits {
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    int warp_size = 32;
    int threads_per_block = 0;
    int threads_per_multiprocessor = 0;
    int blocks_per_multiprocessor = 0;
    int registers_per_multiprocessor = 0;
    std::size_t shared_bytes_per_block = 0;
    std::size_t shared_bytes_per_block_at_most = 0;  ///< for kernels that opt in
    std::size_t shared_bytes_per_multiprocessor = 0;
    std::uint64_t l2_bytes = 0;
    std::uint64_t total_bytes = 0;
    /// Bytes that could be allocated now, including the unused memory of our own pool.
    std::uint64_t free_bytes = 0;
};

/// Whether this library was built with CUDA. Does not query the driver.
bool built();

/// @throws device_error if there is no such device.
device_limits limits_of(int ordinal);
/// Returns `device_limits::total_bytes` without querying the free memory, which takes longer.
std::uint64_t total_bytes_of(int ordinal);

}  // namespace spikeweave::device
