#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// A ragged list of windows: pattern i has rows[begins[i]] to rows[begins[i + 1] - 1].
struct elephant_extents {
    std::vector<std::uint64_t> begins{0};
    std::vector<std::uint32_t> rows{};
};

/// Elephant's `rel_matrix`, which records which windows (rows) contain which spikes (columns). It
/// may contain anything, because users can pass their own. Rows are kept as sets of columns, and
/// columns as sets of rows.
class SPIKEWEAVE_API elephant_relation {
public:
    /// @param cells  row after row
    elephant_relation(std::span<const bool> cells, std::size_t rows, std::size_t columns,
                      const std::stop_token& stop = {});

    /// The rows that contain all columns of each pattern.
    /// @param offsets  beginning of each pattern in `items`, one more than patterns
    /// @throws invalid_argument if there is no such column; cancelled.
    elephant_extents extents(std::span<const std::uint64_t> offsets,
                             std::span<const std::uint32_t> items,
                             const std::stop_token& stop = {}) const;

    /// Counts the subsets of `elements` that have the same common rows (or columns) as all of them,
    /// which are `others`. This is the numerator of Elephant's stability. Like Elephant, it goes
    /// through the subsets in order and counts none that is contained in one that failed before.
    /// @param of_columns  whether `elements` are columns and `others` rows, or the reverse
    std::uint64_t count_all(std::span<const std::uint32_t> elements,
                            std::span<const std::uint32_t> others, bool of_columns,
                            const std::stop_token& stop = {}) const;
    /// Counts in the same way among given subsets: subset i consists of the elements at
    /// places[offsets[i]] to places[offsets[i + 1] - 1].
    std::uint64_t count_given(std::span<const std::uint32_t> elements,
                              std::span<const std::uint32_t> others, bool of_columns,
                              std::span<const std::uint64_t> offsets,
                              std::span<const std::uint32_t> places,
                              const std::stop_token& stop = {}) const;

private:
    class SPIKEWEAVE_LOCAL success_counter;
    using bit_set = std::vector<std::uint64_t>;  ///< a set of numbers, one bit each

    bit_set common(std::span<const std::uint32_t> elements, bool of_columns) const;
    bit_set set_of(std::span<const std::uint32_t> elements, bool of_columns) const;

    std::vector<bit_set> rows_;
    std::vector<bit_set> columns_;
};

}  // namespace spikeweave
