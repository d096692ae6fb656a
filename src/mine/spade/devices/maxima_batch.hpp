#pragma once

#include <cstdint>

#include "mine/spade/devices/device_pattern.hpp"
#include "mine/spade/devices/rules_on_lanes.hpp"

namespace spikeweave::spade {

/// The sizes of a batch of recordings.
struct maxima_shape {
    std::uint32_t recordings = 0;
    std::uint32_t units = 0;
    std::uint32_t window_bins = 0;
    std::uint32_t durations = 1;     ///< `window_bins` if maxima are kept by duration
    std::uint32_t most_windows = 0;  ///< spikes of the unit that has most
    std::uint32_t pad_words = 0;     ///< empty words before bin 0 of a raster's row
    std::uint32_t row_words = 0;     ///< words of a row, with room for a window after the last bin

    /// Larger patterns than this are left to the CPU.
    static constexpr std::uint32_t sizes = 64;

    SPIKEWEAVE_HD std::uint32_t items() const { return units * window_bins; }
    SPIKEWEAVE_HD std::uint32_t most_planes() const { return (most_windows + 31) / 32; }
    SPIKEWEAVE_HD std::uint32_t maxima() const { return sizes * durations; }
};

/// Many recordings whose maxima are found together. Each has the same units.
struct maxima_batch {
    maxima_shape shape;
    device_rules rules;
    std::uint32_t least_occ;
    std::uint32_t max_occ;  ///< 0: no bound
    bool drop_window_subsets;
    const std::uint32_t* bins;     ///< those of each unit of each recording
    const std::uint64_t* offsets;  ///< where they begin: recordings × units + 1
    const std::uint32_t* roots;    ///< the units of each recording, those with most spikes first
    const std::uint32_t* rasters;  ///< one bit for each bin: recordings × units × row_words
    std::uint32_t* most;           ///< as in `occurrence_maxima`, `sizes` rows for each recording
    /// The lowest maximum of this size and this or a longer duration, never too high; with one
    /// duration, the same memory as `most`.
    std::uint32_t* lowest;
    std::uint32_t* left_out;  ///< for each recording, whether it has to be searched on the CPU
    std::uint32_t* next;      ///< the next pair of recording and root

    SPIKEWEAVE_LANES std::uint64_t row(std::uint32_t recording, std::uint32_t unit) const {
        return std::uint64_t{recording} * shape.units + unit;
    }
    SPIKEWEAVE_LANES raster_rows rows_of(std::uint32_t recording) const {
        return {rasters + row(recording, 0) * shape.row_words, shape.units, shape.window_bins,
                shape.pad_words, shape.row_words};
    }
};

}  // namespace spikeweave::spade
