#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <stop_token>

#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Collects patterns into one table without copying it. A single table that grows is reallocated
/// again and again, and needs twice its memory while it is moved.
class SPIKEWEAVE_API pattern_blocks {
public:
    explicit pattern_blocks(std::uint32_t window_bins) : window_bins_(window_bins) {}

    /// Appends one pattern, like `pattern_table::append`.
    void append(std::span<const pattern_item> pattern, std::uint32_t count,
                std::span<const std::uint32_t> starts = {});
    /// Appends all patterns of a table.
    void append(const pattern_table& table);

    /// Moves all patterns into one table, in the order in which they were appended. No pattern
    /// remains here. @throws cancelled
    pattern_table joined(const std::stop_token& stop = {});

private:
    pattern_table& block_for(std::size_t items, std::size_t occurrences);

    std::uint32_t window_bins_;
    std::deque<pattern_table> blocks_{};
};

/// Removes all other patterns from a table, in place.
/// @param kept  indices of the patterns to keep, ascending
SPIKEWEAVE_API void keep_patterns(pattern_table& table, std::span<const std::size_t> kept);

}  // namespace spikeweave
