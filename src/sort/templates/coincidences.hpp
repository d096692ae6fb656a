#pragma once

#include <cstdint>
#include <span>

namespace spikeweave::templates {

/// Number of pairs of a time of `a` and one of `b` that are `least` to `most` frames apart,
/// whichever comes first.
/// @param a,b  ascending
std::uint64_t count_pairs(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                          std::int64_t least, std::int64_t most);

/// Number of such pairs to be expected of units of so many spikes that fire independently of each
/// other over the recording.
double expected_pairs(double a, double b, std::int64_t least, std::int64_t most,
                      double recording_frames);

/// Whether two units fire together as independent neurons do: a neuron with itself, cut in two,
/// does not, because of its refractory period.
bool fire_independently(std::uint64_t found, double expected);

}  // namespace spikeweave::templates
