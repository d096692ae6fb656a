#pragma once

#include <algorithm>
#include <cstdint>

#include "device/limits.hpp"
#include "mine/spade/devices/maxima_batch.hpp"
#include "mine/spade/devices/pattern_node.hpp"

/// Computes the memory of a search from its shape. This is arithmetic on the host, tested without a
/// device.
namespace spikeweave::spade {

/// The division of a search among the blocks of a device, and the place of each block's memory.
struct search_plan {
    static constexpr std::uint32_t lanes = 32;
    static constexpr std::uint32_t most_warps = 10;  ///< of a block
    static constexpr std::uint32_t most_warps_for_patterns = 8;
    static constexpr std::uint32_t most_blocks = 2;  ///< of a multiprocessor

    std::uint32_t warps = most_warps;  ///< of a block
    std::uint32_t blocks = 0;
    std::uint64_t root_bytes = 0;    ///< of a block, for the node of its root
    std::uint64_t warp_bytes = 0;    ///< of a warp
    std::uint32_t shared_bytes = 0;  ///< of a warp, for its units; 0 if they are too many
    std::uint32_t arena_words = 0;

    SPIKEWEAVE_HD std::uint64_t block_bytes() const { return root_bytes + warps * warp_bytes; }
    SPIKEWEAVE_HD std::uint64_t bytes() const { return blocks * block_bytes(); }
};

constexpr std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + 15) / 16 * 16;
}

/// The bytes for the units of a warp: words, marks, and what has been touched.
constexpr std::uint64_t bytes_of_units(const maxima_shape& shape) {
    return aligned(std::uint64_t{shape.units} * 9 + std::uint64_t{warp_space::most_path} * 4);
}

/// The bytes of the recordings themselves.
inline std::uint64_t bytes_of_recordings(const maxima_shape& shape, std::uint64_t spikes) {
    const std::uint64_t rows = std::uint64_t{shape.recordings} * shape.units;
    return spikes * 4 + rows * (12 + std::uint64_t{shape.row_words} * 4) +
           std::uint64_t{shape.recordings} * (shape.maxima() * 8 + 4) + 4096;
}

/// As many blocks as the device holds at once and its memory has room for; none if there is no room
/// for a single one.
/// @param root_bytes      memory of a block besides its warps
/// @param arena_per_item  words
inline search_plan plan_blocks(const maxima_shape& shape, const device::device_limits& limits,
                               std::uint64_t free_bytes, std::uint64_t root_bytes,
                               std::uint32_t arena_per_item, std::uint32_t warps) {
    search_plan plan{.warps = warps};
    const std::uint64_t items = shape.items();
    plan.arena_words = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(items * arena_per_item, 16384, 1U << 24U));
    plan.root_bytes = aligned(root_bytes);
    plan.warp_bytes = aligned(items * 12 + std::uint64_t{warp_space::most_path} * 4) +
                      warp_space::most_depth * aligned(sizeof(pattern_node)) +
                      std::uint64_t{plan.arena_words} * 4;
    // Shared memory that is left is cache, where the words of nodes should be.
    const std::uint64_t shared = std::min<std::uint64_t>(
        limits.shared_bytes_per_multiprocessor / (2 * std::uint64_t{search_plan::most_blocks}),
        limits.shared_bytes_per_block);
    const std::uint64_t units = bytes_of_units(shape);
    if (plan.warps * units <= shared)
        plan.shared_bytes = static_cast<std::uint32_t>(units);
    else
        plan.warp_bytes += units;
    plan.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        std::uint64_t{search_plan::most_blocks} * static_cast<unsigned>(limits.multiprocessors),
        free_bytes / plan.block_bytes()));
    return plan;
}

/// The plan of a search for maxima, in which the warps of a block share the node of a root.
inline search_plan plan_maxima(const maxima_shape& shape, const device::device_limits& limits,
                               std::uint64_t free_bytes) {
    constexpr std::uint32_t arena_per_item = 16;
    const std::uint64_t items = shape.items();
    return plan_blocks(shape, limits, free_bytes,
                       items * 8 + (shape.most_windows + std::uint64_t{1}) * 4 +
                           std::uint64_t{shape.most_planes()} * (items + shape.units) * 4,
                       arena_per_item, search_plan::most_warps);
}

/// The plan of a search for all patterns. Without maxima, nodes keep more items, and a thread needs
/// more registers.
inline search_plan plan_patterns(const maxima_shape& shape, const device::device_limits& limits,
                                 std::uint64_t free_bytes) {
    constexpr std::uint32_t arena_per_item = 64;
    return plan_blocks(shape, limits, free_bytes, 0, arena_per_item,
                       search_plan::most_warps_for_patterns);
}

}  // namespace spikeweave::spade
