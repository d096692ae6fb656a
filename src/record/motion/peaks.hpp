#pragma once

#include <vector>

#include "record/motion/histograms.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave::record {

/// The spikes of a recording, ordered by frame, then by channel.
std::vector<motion_peak> motion_peaks_of(const recording& from, const detection_options& options,
                                         const execution& run);

}  // namespace spikeweave::record
