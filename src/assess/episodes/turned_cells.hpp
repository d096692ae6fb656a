#pragma once

#include <cstdint>
#include <span>

#include "assess/episodes/count_distribution.hpp"
#include "assess/episodes/start_windows.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::assess {

/// A grid of equal cells from the beginning of a span to its end, in microseconds.
struct cell_grid {
    std::int64_t begin;
    std::int64_t last;  ///< last time of the span
    std::int64_t width;
};

/// The distribution of the number of starts without overlap if the spikes in each cell are rotated
/// by a uniform amount, a different one in each cell (spikes that leave the cell at its end come
/// back at its beginning). It is exact for each cell, or computed from 64 rotations if hundreds
/// matter. The next start comes at least `gap` after an occurrence is over.
count_distribution turned_starts(std::span<const std::int64_t> spikes,
                                 std::span<const start_window> windows, const cell_grid& grid,
                                 std::int64_t gap);

}  // namespace spikeweave::assess
