#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// The order in which Elephant lists patterns and the items within a pattern.
struct elephant_order {
    std::vector<std::size_t> patterns{};  ///< indices of the table's patterns
    /// Rank of each item; the items of a pattern are listed from the highest rank to the lowest.
    std::vector<std::uint32_t> ranks{};
};

/// Finds the order in which Elephant (0.11 and later, with its compiled miner) lists the closed
/// patterns of these windows. Pattern set reduction breaks some ties by this order.
///
/// The miner leaves out windows with fewer than `min_spikes` items and items in fewer than
/// `min_occ` of those windows, until nothing changes. It ranks the other items by their number of
/// windows, the most frequent first; equally frequent items are in the order in which `std::sort`
/// of libstdc++ leaves them when its input begins with the largest item. A pattern is the word of
/// its items from the highest rank on. Words are in dictionary order, where a higher rank is first
/// and a word follows those that it begins. Unless windows are a single bin, Elephant then puts the
/// patterns with the fewest occurrences first. If all windows are the same, their one pattern never
/// reaches the miner, and its items ascend.
/// @param rule  the rule that the table was mined with
SPIKEWEAVE_API elephant_order order_as_elephant(const spade_windows& windows,
                                                const pattern_table& table,
                                                const pattern_rule& rule,
                                                const execution& run = {});

}  // namespace spikeweave
