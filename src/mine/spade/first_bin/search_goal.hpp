#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "mine/spade/first_bin/item_index.hpp"

/// The patterns that a `closed_search` searches for. A goal has these functions:
///   std::uint32_t least(size, units, duration, more_items, more_units)  the least count of any
///       wanted pattern that has more than `size` spikes, at most so many more items and units,
///       and at least this duration; `unreachable` if there is none
///   bool wants(size, units, count, duration)
///   bool may_want(size, units, count)       false only if no such pattern is wanted
///   void take(const found_pattern&)
///   void drop(const found_pattern&)         wanted, but part of one that begins earlier
namespace spikeweave::spade {

/// A closed pattern as the search finds it.
struct found_pattern {
    std::span<const item_index::item_id> ids;  ///< ascending: in time order
    std::uint32_t duration;                    ///< in bins
    std::span<const std::uint32_t> windows;    ///< windows that hold it, ascending
};

inline constexpr std::uint32_t unreachable = std::numeric_limits<std::uint32_t>::max();

/// A goal that visits only some of the children of a node, to estimate the size of the search:
///   bool enters(std::size_t children)  for each child; `leaves()` follows where it is true
template <class Goal>
concept visits_some = requires(Goal& goal) {
    { goal.enters(std::size_t{1}) } -> std::same_as<bool>;
    goal.leaves();
};

}  // namespace spikeweave::spade
