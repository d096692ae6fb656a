#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The assignment of spikes to units.
struct sorting {
    /// Label of each spike; 0 means noise, units are 1 to `unit_count`.
    std::vector<std::uint32_t> labels{};
    std::uint32_t unit_count = 0;
    /// Time of each spike, in samples since the recording's first; empty if unknown.
    std::vector<std::int64_t> samples{};
    /// Sample rate in Hz; 0 if unknown.
    double sample_rate = 0;
    /// Length of the recording in samples; 0 if unknown.
    std::int64_t sample_count = 0;
    /// The time of the recording's first sample by the clock of its files.
    duration begin{};
    /// Offset of each spike's peak from its sample, -0.5 to 1 samples; empty if unknown.
    std::vector<float> fractions{};

    bool has_times() const { return !samples.empty() && sample_rate > 0; }

    friend bool operator==(const sorting&, const sorting&) = default;
};

struct sorted_spikes {
    /// Units are named "1", "2", …
    spike_sequence spikes;
    /// Number of spikes of the noise cluster, which is not a unit; they are omitted.
    std::size_t noise = 0;
    /// Number of spikes at the same microsecond as another of their unit; they are omitted.
    std::size_t duplicates = 0;
};

/// The spikes of the units in time order, in times of the recording's clock. They span the
/// recording or, if its length is unknown, the time from the first spike to the last, including
/// noise. Times are those of the interpolated peaks if `fractions` has them.
/// @throws invalid_argument unless `has_times()`, or if the parts are inconsistent.
SPIKEWEAVE_API sorted_spikes to_spikes(const sorting& sorted);

}  // namespace spikeweave
