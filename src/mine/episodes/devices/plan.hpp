#pragma once

#include <algorithm>
#include <cstdint>

#include "device/limits.hpp"

/// Computes launches from sizes and limits. This is arithmetic on the host, tested without a
/// device.
namespace spikeweave::episodes {

constexpr std::uint64_t pieces_of(std::uint64_t whole, std::uint64_t piece) {
    return (whole + piece - 1) / piece;
}

/// The number of threads per block if each thread has its own work and all of it takes about
/// equally long. Small blocks distribute it evenly; larger ones are used only if there is enough
/// work.
constexpr int threads_for_even_spread(std::uint64_t threads, int multiprocessors) {
    constexpr int most = 256;
    constexpr std::uint64_t blocks_per_multiprocessor = 16;
    int block = 32;
    while (block < most && pieces_of(threads, static_cast<std::uint64_t>(block)) >
                               blocks_per_multiprocessor * static_cast<unsigned>(multiprocessors))
        block *= 2;
    return block;
}

/// The part of a device's memory that one call may use as work space. The same device may be listed
/// twice, and streams need memory too.
constexpr std::uint64_t work_space_bytes(const device::device_limits& limits) {
    return limits.free_bytes / 3;
}

/// The number of segments of time in which each of `candidates` episodes is counted: enough for one
/// segment per thread that the device holds, in whole warps for each episode.
constexpr std::uint32_t segments_for(std::uint64_t candidates,
                                     const device::device_limits& limits) {
    constexpr std::uint64_t warp = 32;
    // Registers allow half the threads that a multiprocessor could hold.
    const std::uint64_t threads = static_cast<std::uint64_t>(limits.multiprocessors) *
                                  static_cast<std::uint64_t>(limits.threads_per_multiprocessor) / 2;
    const std::uint64_t warps = pieces_of(threads, warp * std::max<std::uint64_t>(candidates, 1));
    return static_cast<std::uint32_t>(warp * std::max<std::uint64_t>(warps, 1));
}

/// The number of pieces into which each of `sweeps` one-warp walks through spikes is cut, if
/// possible: enough that the last pieces, which run alone, are a small part of all, but not so many
/// that starting and ending them costs much.
constexpr std::uint32_t pieces_of_sweeps(std::uint64_t sweeps, std::uint64_t longest_spikes,
                                         const device::device_limits& limits) {
    constexpr std::uint64_t warps_per_multiprocessor = 512;
    constexpr std::uint64_t shortest_spikes = 256;
    constexpr std::uint64_t most = 65535;  // limit of a grid's third dimension
    const std::uint64_t wanted =
        pieces_of(warps_per_multiprocessor * static_cast<std::uint64_t>(limits.multiprocessors),
                  std::max<std::uint64_t>(sweeps, 1));
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(longest_spikes / shortest_spikes, 1, std::min(wanted, most)));
}

/// The memory for lists of partial occurrences.
struct occurrence_capacity {
    /// Number of elements in one list.
    std::uint64_t most_occurrences = 0;
    /// Number of continuations of a partial occurrence for which memory is reserved before they are
    /// counted.
    std::uint32_t first_ways = 4;
};

/// Plans for two lists with their offsets, or one while it is sorted and scheduled: 64 bytes per
/// occurrence.
constexpr occurrence_capacity occurrence_capacity_of(const device::device_limits& limits) {
    constexpr std::uint64_t bytes = 64;
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    return {std::clamp<std::uint64_t>(work_space_bytes(limits) / bytes, 1, most)};
}

}  // namespace spikeweave::episodes
