#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// A pattern in one of several tables.
struct record {
    std::uint64_t key = 0;
    std::uint32_t table = 0;
    std::uint32_t row = 0;
};

/// Finds the patterns of the tables that are not part of another pattern with the same occurrences.
std::vector<record> closed_records(std::span<const pattern_table> tables, const execution& run);

/// Finds those of these patterns that are not part of a longer pattern with the same occurrences
/// that begins earlier. This is Elephant's filter, which groups patterns by their count and
/// identifies spikes by their distance from the last one. A pattern and the longer one end at the
/// same bins, so grouping by the bins of the last spikes gives smaller groups and the same result.
std::vector<record> without_window_subsets(std::span<const pattern_table> tables,
                                           std::vector<record> records, const execution& run);

}  // namespace spikeweave::spade
