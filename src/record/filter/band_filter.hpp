#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spikeweave/record/preprocess.hpp"

namespace spikeweave::record {

/// Runs the sections over all frames and channels, forward and then backward, in place. Before the
/// first frame each channel is assumed to have had that frame's value forever, and likewise
/// backward.
void filter_both_ways(std::span<const band_section> sections, std::size_t channels,
                      std::span<double> frames);

/// Runs the sections over frames that follow those of the last call with these states, in place.
/// @param states  two numbers for each section and channel, at first 0: before the first frame all
/// values were 0
void filter_forward(std::span<const band_section> sections, std::size_t channels,
                    std::span<double> states, std::span<double> frames);

/// Returns the distance in frames beyond which a value changes nothing by more than `part` of
/// itself.
std::size_t reach_of(std::span<const band_section> sections, double part);

}  // namespace spikeweave::record
