#pragma once

#include <cstdint>

#include "mine/spade/devices/lanes.hpp"

namespace spikeweave::spade {

/// The bits of items over the windows of a node, in planes of 32 windows: that of item k and
/// plane p is words[p * stride + k].
struct item_words {
    std::uint32_t* words = nullptr;
    std::uint32_t stride = 0;
    std::uint32_t count = 0;  ///< items

    SPIKEWEAVE_LANES std::uint32_t& at(std::uint32_t plane, std::uint32_t item) const {
        return words[std::uint64_t{plane} * stride + item];
    }
};

/// A closed pattern and the items that may be added to it. As on the CPU (closed_search.hpp), a
/// child adds a candidate and all later ones that then are in every window; if an earlier
/// candidate, or an item that is excluded, is in every window too, the child is found elsewhere.
struct pattern_node {
    item_words candidates{};
    item_words excluded{};
    const std::uint32_t* items = nullptr;  ///< the candidates, as `packed_item`
    const std::uint32_t* bins = nullptr;   ///< where each window begins
    std::uint32_t planes = 0;
    std::uint32_t least = 0;  ///< the least count of what is wanted below
    std::uint32_t size = 0;
    std::uint32_t units = 0;
    std::uint32_t duration = 0;
    const std::uint32_t* by_unit = nullptr;  ///< the candidates, those of a unit together
    std::uint32_t next = 0;                  ///< the next children to examine
    std::uint32_t last = 0;                  ///< the children from this on are not examined
    std::uint32_t open = 0;   ///< those of the last ones examined that are left to visit, as bits
    std::uint32_t arena = 0;  ///< where its memory begins
    // Only for goals that get patterns in order.
    bool is_pending = false;       ///< its pattern has not been taken
    std::uint32_t end = 0;         ///< the candidates before this come before its pattern
    std::uint32_t own_number = 0;  ///< among the candidates of the node above
};

/// The memory of one warp.
struct warp_space {
    static constexpr std::uint32_t most_depth = 48;
    static constexpr std::uint32_t most_path = 64;

    // By unit; all zero between uses.
    std::uint32_t* unit_words;
    std::uint8_t* marked;
    std::uint32_t* path;     ///< the units of the pattern
    std::uint32_t* touched;  ///< some units
    std::uint32_t* pattern;  ///< its items, for goals that get patterns in order
    // By item.
    std::uint32_t* found;
    std::uint32_t* counts;
    std::uint32_t* full;
    pattern_node* nodes;
    std::uint32_t* arena;  ///< the words of nodes, those of deeper ones behind
    std::uint32_t arena_words;
};

}  // namespace spikeweave::spade
