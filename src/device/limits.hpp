#pragma once

#include <cstddef>
#include <cstdint>

namespace spikeweave::device {

/// What a plan needs to know of a device: host arithmetic on plain numbers, so that it is tested
/// where there is none.
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
    std::size_t shared_bytes_per_block_at_most = 0;  ///< with a kernel that asks for more
    std::size_t shared_bytes_per_multiprocessor = 0;
    std::uint64_t l2_bytes = 0;
    std::uint64_t total_bytes = 0;
    /// What could be allocated now, with what our own pool holds unused.
    std::uint64_t free_bytes = 0;
};

/// Whether this library was built with CUDA. Asks no driver.
bool built();

/// @throws device_error if there is no such device.
device_limits limits_of(int ordinal);
/// `device_limits::total_bytes` without asking what is free, which takes the driver longer.
std::uint64_t total_bytes_of(int ordinal);

}  // namespace spikeweave::device
