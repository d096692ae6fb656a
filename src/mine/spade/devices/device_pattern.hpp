#pragma once

#include <cstdint>

#include "mine/spade/devices/lanes.hpp"

namespace spikeweave::spade {

/// A spike of a pattern in one word: the unit in the lower bits, the lag above.
struct packed_item {
    static constexpr std::uint32_t unit_bits = 20;
    static constexpr std::uint32_t most_units = 1U << unit_bits;
    static constexpr std::uint32_t most_lags = 1U << (32 - unit_bits);

    SPIKEWEAVE_HD static std::uint32_t of(std::uint32_t unit, std::uint32_t lag) {
        return lag << unit_bits | unit;
    }
    SPIKEWEAVE_HD static std::uint32_t unit(std::uint32_t item) { return item & (most_units - 1); }
    SPIKEWEAVE_HD static std::uint32_t lag(std::uint32_t item) { return item >> unit_bits; }
};

/// A pattern as a search on a device finds it.
struct device_pattern {
    std::uint32_t size;
    std::uint32_t units;
    std::uint32_t duration;
    std::uint32_t count;
};

/// The bins in which units fire, one bit each, to find spikes before windows.
struct raster_rows {
    const std::uint32_t* words;
    std::uint32_t units;
    std::uint32_t window_bins;
    std::uint32_t pad_words;  ///< empty words before bin 0 of a row
    std::uint32_t row_words;

    SPIKEWEAVE_LANES const std::uint32_t* row(std::uint32_t unit) const {
        return words + std::uint64_t{unit} * row_words;
    }
    /// 32 bits of a row from a bin on, which may be up to a window before the first or after the
    /// last one.
    SPIKEWEAVE_LANES std::uint32_t bits_from(const std::uint32_t* row, std::uint32_t bin,
                                             std::uint32_t before = 0) const {
        const std::uint32_t at = pad_words * 32 + bin - before;
        const std::uint64_t both = std::uint64_t{row[at / 32 + 1]} << 32U | row[at / 32];
        return static_cast<std::uint32_t>(both >> (at % 32));
    }
};

}  // namespace spikeweave::spade
