#include "record/motion/peak_histograms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace spikeweave::record {
namespace {

constexpr double bin_um = 5;
constexpr double margin_um = 15;
// Amplitudes of neighbouring bins differ by this factor.
constexpr double amplitude_step = 1.3;
constexpr double lowest_amplitude = 4.5;
constexpr std::size_t amplitude_bins = 10;

// Binomial weights: nearly a Gaussian with a standard deviation of one bin.
constexpr std::array<float, 5> depth_kernel{1 / 16.0F, 4 / 16.0F, 6 / 16.0F, 4 / 16.0F, 1 / 16.0F};
constexpr std::array<float, 3> amplitude_kernel{1 / 4.0F, 2 / 4.0F, 1 / 4.0F};

// Smooths along an axis of a matrix; `stride` is the distance of its neighbours, and each of the
// `count` values has `lines` others beside it, `across` apart.
template <std::size_t taps>
void smooth(std::span<float> values, const std::array<float, taps>& kernel, std::size_t count,
            std::size_t stride, std::size_t lines, std::size_t across) {
    constexpr std::size_t half = taps / 2;
    std::vector<float> line(count + 2 * half);
    for (std::size_t l = 0; l < lines; ++l) {
        for (std::size_t i = 0; i < count; ++i) line[half + i] = values[l * across + i * stride];
        for (std::size_t i = 0; i < count; ++i) {
            float sum = 0;
            for (std::size_t k = 0; k < taps; ++k) sum += kernel[k] * line[i + k];
            values[l * across + i * stride] = sum;
        }
    }
}

// A place between two bins, and the share of the upper one.
struct shared_bin {
    std::size_t lower;
    float upper_share;
};

shared_bin bin_at(double at, std::size_t bins) {
    const double within = std::clamp(at, 0.0, static_cast<double>(bins) - 1.001);
    const auto lower = static_cast<std::size_t>(within);
    return {lower, static_cast<float>(within - static_cast<double>(lower))};
}

}  // namespace

motion_histograms motion_histograms_of(std::span<const motion_peak> peaks, std::size_t times,
                                       double bin_frames, double low_um, double high_um) {
    motion_histograms out{.times = times,
                          .amplitudes = amplitude_bins,
                          .lowest_um = low_um - margin_um,
                          .depth_bin_um = bin_um};
    out.depths = static_cast<std::size_t>((high_um - low_um + 2 * margin_um) / bin_um) + 2;
    out.values.assign(times * out.size(), 0.0F);
    for (const motion_peak& peak : peaks) {
        const auto time = std::min(
            times - 1, static_cast<std::size_t>(static_cast<double>(peak.frame) / bin_frames));
        const shared_bin depth = bin_at((peak.depth_um - out.lowest_um) / bin_um, out.depths);
        const shared_bin size = bin_at(
            std::log(peak.amplitude / lowest_amplitude) / std::log(amplitude_step), amplitude_bins);
        float* const at =
            out.values.data() + time * out.size() + depth.lower * amplitude_bins + size.lower;
        at[0] += (1 - depth.upper_share) * (1 - size.upper_share);
        at[1] += (1 - depth.upper_share) * size.upper_share;
        at[amplitude_bins] += depth.upper_share * (1 - size.upper_share);
        at[amplitude_bins + 1] += depth.upper_share * size.upper_share;
    }
    for (std::size_t t = 0; t < times; ++t) {
        const std::span<float> one = std::span{out.values}.subspan(t * out.size(), out.size());
        smooth(one, depth_kernel, out.depths, amplitude_bins, amplitude_bins, 1);
        smooth(one, amplitude_kernel, amplitude_bins, 1, out.depths, amplitude_bins);
        for (float& value : one) value = std::sqrt(value);
    }
    return out;
}

}  // namespace spikeweave::record
