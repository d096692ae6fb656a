#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/record/detection.hpp"

namespace spikeweave::record {

/// A spike as far as motion is concerned.
struct motion_peak {
    std::int64_t frame;
    float depth_um;
    float amplitude;  ///< over the channels of the spike, in standard deviations of the noise
};

/// The depths and log amplitudes of the spikes of each time bin, counted, smoothed, and with square
/// roots taken, so that the variance of a count does not depend on its size.
struct motion_histograms {
    std::size_t times = 0;
    std::size_t depths = 0;
    std::size_t amplitudes = 0;
    double lowest_um = 0;  ///< the middle of the first depth bin
    double depth_bin_um = 1;
    /// `[time][depth][amplitude]`
    std::vector<float> values{};

    std::size_t size() const { return depths * amplitudes; }
    std::span<const float> of(std::size_t time) const {
        return std::span{values}.subspan(time * size(), size());
    }
    double depth_of(std::size_t bin) const {
        return lowest_um + depth_bin_um * static_cast<double>(bin);
    }
};

/// @param times      number of time bins
/// @param bin_frames frames of a time bin; later peaks are in the last bin
/// @param low_um,high_um depths of the lowest and of the highest channel
motion_histograms motion_histograms_of(std::span<const motion_peak> peaks, std::size_t times,
                                       double bin_frames, double low_um, double high_um);

/// The spikes of a recording, ordered by frame, then by channel.
std::vector<motion_peak> motion_peaks_of(const recording& from, const detection_options& options,
                                         const execution& run);

}  // namespace spikeweave::record
