#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include "mine/spade/first_bin/item_index.hpp"

namespace spikeweave::spade {

constexpr std::uint32_t past_all_ranks = std::numeric_limits<std::uint32_t>::max();

/// A part of the search: the patterns that begin with `root` and continue with an item of rank
/// [first, last).
struct search_task {
    item_index::item_id root;
    std::uint32_t first;
    std::uint32_t last;
    double cost;  ///< estimate without unit: pairs of windows that share root and next item
};

/// Cuts the search into parts in the order of their patterns, small enough to be distributed
/// evenly. The parts are the same on every machine.
std::vector<search_task> plan_search(const item_index& items, std::uint32_t least_occ,
                                     const std::stop_token& stop);

}  // namespace spikeweave::spade
