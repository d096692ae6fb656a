#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::assemblies {

/// The bins of one epoch. Positions count the bins of all epochs, with `max_lag` empty ones before
/// and after each, so that no lag reaches from one epoch into another.
struct segment {
    std::uint32_t first = 0;   ///< position of the first bin
    std::uint32_t length = 0;  ///< number of bins, more than `max_lag`
    std::uint32_t usable = 0;  ///< length - max_lag: the bins in which joint counts begin
    std::uint32_t chunk = 0;   ///< length of a chunk; the last one takes the rest
    std::uint32_t chunks = 0;
    duration begin{};

    std::uint32_t end() const { return first + length; }
    std::uint32_t usable_end() const { return first + usable; }
};

/// The bins of a recording at one width.
struct layout {
    duration bin{};
    std::uint32_t max_lag = 0;
    std::vector<segment> segments{};
    std::uint32_t positions = 0;  ///< including the empty ones
    std::uint64_t bins = 0;       ///< of all segments
    std::uint64_t usable = 0;

    /// @throws invalid_argument if there are more than 2^31 bins.
    layout(const spike_sequence& spikes, duration width, std::uint32_t longest_lag,
           std::uint32_t chunk_bins);
    /// Where a bin begins.
    duration time_of(std::uint32_t position) const;
};

/// The number of times that a unit or an assembly is active in each bin.
struct series {
    std::vector<std::uint32_t> at{};    ///< ascending positions
    std::vector<std::int16_t> count{};  ///< at least 1
    /// The smallest count of all bins. It carries no information about coincidences and is
    /// subtracted.
    std::int16_t floor = 0;
    std::vector<std::uint64_t> at_least{};  ///< at_least[i]: bins with more than i above the floor
    std::uint64_t total = 0;                ///< of all counts above the floor

    std::size_t size() const { return at.size(); }
    std::int16_t above_floor(std::size_t i) const {
        return static_cast<std::int16_t>(count[i] - floor);
    }
    /// Sets `floor`, `at_least` and `total` from the counts.
    void finish(std::uint64_t bins);
};

/// The series of every unit.
/// @throws invalid_argument if a bin holds more than 32,767 spikes of a unit; cancelled.
std::vector<series> series_of(const spike_sequence& spikes, const layout& bins,
                              const std::stop_token& stop);

}  // namespace spikeweave::assemblies
