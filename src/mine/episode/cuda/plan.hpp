#pragma once

#include <algorithm>
#include <cstdint>

#include "device/limits.hpp"

/// From sizes and limits to launches: arithmetic on the host, tested without a device.
namespace spikeweave::episodes {

constexpr std::uint64_t pieces_of(std::uint64_t whole, std::uint64_t piece) {
    return (whole + piece - 1) / piece;
}

/// Threads of a block when each thread has work of its own and all of it takes about the same time:
/// small blocks spread it evenly, and larger ones are only taken when there is enough.
constexpr int threads_for_even_spread(std::uint64_t threads, int multiprocessors) {
    constexpr int most = 256;
    constexpr std::uint64_t blocks_per_multiprocessor = 16;
    int block = 32;
    while (block < most && pieces_of(threads, static_cast<std::uint64_t>(block)) >
                               blocks_per_multiprocessor * static_cast<unsigned>(multiprocessors))
        block *= 2;
    return block;
}

/// What one call may take of a device's memory for work space; the same device may stand in the
/// list twice, and streams need room, too.
constexpr std::uint64_t work_space_bytes(const device::device_limits& limits) {
    return limits.free_bytes / 3;
}

/// How many segments of time each of `candidates` episodes is counted in: as many as give every
/// thread that the device holds one, whole warps of them for each episode.
constexpr std::uint32_t segments_for(std::uint64_t candidates,
                                     const device::device_limits& limits) {
    constexpr std::uint64_t warp = 32;
    // Registers allow half of the threads that a multiprocessor could hold.
    const std::uint64_t threads = static_cast<std::uint64_t>(limits.multiprocessors) *
                                  static_cast<std::uint64_t>(limits.threads_per_multiprocessor) / 2;
    const std::uint64_t warps = pieces_of(threads, warp * std::max<std::uint64_t>(candidates, 1));
    return static_cast<std::uint32_t>(warp * std::max<std::uint64_t>(warps, 1));
}

/// Into how many pieces each of `sweeps` one-warp walks through spikes is cut, where that can be:
/// so many that the last of them, which run alone, are few beside all; none so short that beginning
/// and ending it costs much.
constexpr std::uint32_t pieces_of_sweeps(std::uint64_t sweeps, std::uint64_t longest_spikes,
                                         const device::device_limits& limits) {
    constexpr std::uint64_t warps_per_multiprocessor = 512;
    constexpr std::uint64_t shortest_spikes = 256;
    constexpr std::uint64_t most = 65535;  // of a grid's third dimension
    const std::uint64_t wanted =
        pieces_of(warps_per_multiprocessor * static_cast<std::uint64_t>(limits.multiprocessors),
                  std::max<std::uint64_t>(sweeps, 1));
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(longest_spikes / shortest_spikes, 1, std::min(wanted, most)));
}

/// Room for lists of partial occurrences.
struct occurrence_room {
    /// In one list.
    std::uint64_t most_occurrences = 0;
    /// Ways to go on from a partial occurrence that room is made for before they are counted.
    std::uint32_t first_ways = 4;
};

/// Two lists with their places, or one while it is sorted and scheduled: 64 bytes an occurrence.
constexpr occurrence_room room_for_occurrences(const device::device_limits& limits) {
    constexpr std::uint64_t bytes = 64;
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    return {std::clamp<std::uint64_t>(work_space_bytes(limits) / bytes, 1, most)};
}

}  // namespace spikeweave::episodes
