#include "sort/mains.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

namespace spikeweave::sorting_quality {
namespace {

// The phases of the spikes in one part of the recording: mains drift over longer times.
struct phases {
    std::complex<double> sum{};
    double count = 0;
};

bool is_in_step(std::span<const phases> parts, double least_count) {
    constexpr double most_parts = 0.8;
    // The mean cosine between two spikes of a part: 0.64 for a vector strength of 0.8.
    constexpr double least_cosine = 0.64;
    double cosines = 0;
    double pairs = 0;
    for (const phases& part : parts) {
        cosines += std::norm(part.sum) - part.count;
        pairs += part.count * (part.count - 1);
    }
    const auto present = static_cast<double>(std::ranges::count_if(
        parts, [&](const phases& part) { return part.count >= least_count; }));
    return present >= most_parts * static_cast<double>(parts.size()) &&
           cosines >= least_cosine * pairs;
}

}  // namespace

double mains_frequency(std::span<const std::int64_t> samples, double rate_hz, double begin,
                       double length) {
    constexpr std::array frequencies{50.0, 60.0, 100.0, 120.0};
    constexpr double part_s = 2;
    constexpr std::size_t fewest_parts = 2;
    constexpr double least_cycles = 0.25;  // with a spike
    const auto count = static_cast<std::size_t>(length / (part_s * rate_hz));
    if (count < fewest_parts) return 0;
    for (const double frequency : frequencies) {
        std::vector<phases> parts(count);
        for (const std::int64_t sample : samples) {
            const double seconds = (static_cast<double>(sample) - begin) / rate_hz;
            const auto at = static_cast<std::size_t>(std::max(0.0, seconds / part_s));
            if (at >= count) continue;
            parts[at].sum += std::polar(1.0, 2 * std::numbers::pi * frequency * seconds);
            ++parts[at].count;
        }
        if (is_in_step(parts, least_cycles * frequency * part_s)) return frequency;
    }
    return 0;
}

}  // namespace spikeweave::sorting_quality
