#pragma once

#include <cstdint>
#include <span>

#include "assess/episodes/count_distribution.hpp"
#include "assess/episodes/start_windows.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::assess {

/// A grid of equal cells in each interval of time that was observed, from its beginning on; the
/// last cell of an interval ends with it. In microseconds.
struct cell_grid {
    std::span<const time_span> observed;  ///< ascending, with both ends; contain every spike
    std::int64_t width;
};

/// Starts without overlap, counted in each cell by itself.
struct turned_counts {
    count_distribution turned{};    ///< if the cells are rotated
    std::uint64_t as_recorded = 0;  ///< if they are not
};

/// The distribution of the number of starts without overlap if the spikes in each cell are rotated
/// by a uniform amount, a different one in each cell (spikes that leave the cell at its end come
/// back at its beginning). It is exact for each cell, or computed from 64 rotations if hundreds
/// matter. The next start comes at least `gap` after an occurrence is over.
turned_counts turned_starts(std::span<const std::int64_t> spikes,
                            std::span<const start_window> windows, const cell_grid& grid,
                            std::int64_t gap);

}  // namespace spikeweave::assess
