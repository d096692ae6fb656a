#pragma once

#include <cstdint>
#include <span>

namespace spikeweave::sorting_quality {

/// The frequency in hertz, 50, 60, 100 or 120, with which spikes are in step throughout a
/// recording, as what mains interference adds to it is; 0: none. A neuron that follows a stimulus
/// of such a rate is not as precise.
/// @param samples  ascending
/// @param begin, length  of the recording, in samples
double mains_frequency(std::span<const std::int64_t> samples, double rate_hz, double begin,
                       double length);

}  // namespace spikeweave::sorting_quality
