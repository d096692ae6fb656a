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

/// Of all that the tables hold, what is no part of another pattern with the same occurrences.
std::vector<record> closed_records(std::span<const pattern_table> tables, const execution& run);

/// Of these, what is no part of a longer pattern with the same occurrences that begins earlier:
/// Elephant's filter, which groups patterns by their count and tells spikes by their distance from
/// the last one. Patterns that pass it together end together, so that the bins of the last spikes
/// make smaller groups with the same answer.
std::vector<record> without_window_subsets(std::span<const pattern_table> tables,
                                           std::vector<record> records, const execution& run);

}  // namespace spikeweave::spade
