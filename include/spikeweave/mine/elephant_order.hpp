#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// How Elephant lists patterns.
struct elephant_order {
    std::vector<std::size_t> patterns{};  ///< of the table
    /// By item: the items of a pattern come from the highest rank to the lowest.
    std::vector<std::uint32_t> ranks{};
};

/// The order in which Elephant (0.11 and later, with its compiled miner) lists the closed patterns
/// of these windows; pattern set reduction decides some ties by it.
///
/// The miner leaves out windows of less than `min_spikes` items and items in less than `min_occ` of
/// those windows, until nothing changes, and ranks the others by the number of windows, the most
/// frequent first; equally frequent ones as `std::sort` of libstdc++ leaves them when it gets the
/// largest item first. A pattern is the word of its items from the highest rank on. Words are in
/// dictionary order, where a higher rank comes first and a word after those that it begins. Unless
/// windows are a single bin, Elephant then puts the patterns with the fewest occurrences first.
/// The one pattern of windows that are all the same never gets to the miner: its items ascend.
/// @param rule  as mined
elephant_order order_as_elephant(const spade_windows& windows, const pattern_table& table,
                                 const pattern_rule& rule, const execution& run = {});

}  // namespace spikeweave
