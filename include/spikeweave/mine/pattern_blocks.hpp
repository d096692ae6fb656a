#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <stop_token>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Collects patterns into one table without a copy of it: a table that grows by itself is moved
/// again and again, and for that moment takes twice its memory.
class pattern_blocks {
public:
    explicit pattern_blocks(std::uint32_t window_bins) : window_bins_(window_bins) {}

    /// As `pattern_table::append`.
    void append(std::span<const pattern_item> pattern, std::uint32_t count,
                std::span<const std::uint32_t> starts = {});
    /// All patterns of a table.
    void append(const pattern_table& table);

    /// All patterns in the order in which they came; none are left here. @throws cancelled
    pattern_table joined(const std::stop_token& stop = {});

private:
    pattern_table& block_for(std::size_t items, std::size_t occurrences);

    std::uint32_t window_bins_;
    std::deque<pattern_table> blocks_{};
};

/// Leaves only these patterns in a table, in place.
/// @param kept  their places, ascending
void keep_patterns(pattern_table& table, std::span<const std::size_t> kept);

}  // namespace spikeweave
