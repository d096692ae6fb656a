#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Which spike belongs to which unit.
struct sorting {
    /// Of each spike: 0 is noise, units are 1 to `unit_count`.
    std::vector<std::uint32_t> labels{};
    std::uint32_t unit_count = 0;
    /// When each spike was, in samples since the recording's first; empty where that is not known.
    std::vector<std::int64_t> samples{};
    /// Samples a second; 0 where that is not known.
    double sample_rate = 0;
    /// How many samples long the recording is; 0 where that is not known.
    std::int64_t sample_count = 0;
    /// How far from its sample each spike's peak is, -0.5 to 1 samples; empty where that is not
    /// known.
    std::vector<float> fractions{};

    bool has_times() const { return !samples.empty() && sample_rate > 0; }

    friend bool operator==(const sorting&, const sorting&) = default;
};

struct sorted_spikes {
    /// Units are named "1", "2", …
    spike_sequence spikes;
    /// Spikes of the noise cluster, which is no unit: they are left out.
    std::size_t noise = 0;
    /// Spikes that came at the same microsecond as another of their unit: left out.
    std::size_t duplicates = 0;
};

/// The spikes of the units in time order. They span the recording; where its length is not known,
/// from the first spike to the last, also of noise. Times are those of the interpolated peaks where
/// `fractions` has them.
/// @throws invalid_argument unless `has_times()`, or if the parts do not belong together.
sorted_spikes to_spikes(const sorting& sorted);

}  // namespace spikeweave
