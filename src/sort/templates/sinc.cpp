#include "sort/templates/sinc.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace spikeweave::templates {
namespace {

double windowed_sinc(double x) {
    constexpr auto reach = static_cast<double>(sinc_taps::reach);
    if (std::abs(x) >= reach) return 0;
    if (x == 0) return 1;
    const double phase = std::numbers::pi * x;
    return std::sin(phase) / phase * (0.5 + 0.5 * std::cos(phase / reach));
}

}  // namespace

sinc_taps::sinc_taps(double fraction) {
    for (std::int64_t k = -reach; k <= reach; ++k)
        weights_[static_cast<std::size_t>(k + reach)] =
            static_cast<float>(windowed_sinc(static_cast<double>(k) - fraction));
}

std::vector<double> shift_later(std::span<const double> waveform, double fraction) {
    if (fraction == 0) return {waveform.begin(), waveform.end()};
    constexpr std::int64_t reach = sinc_taps::reach;
    std::array<double, 2 * reach + 1> weights{};
    for (std::int64_t k = -reach; k <= reach; ++k)
        weights[static_cast<std::size_t>(k + reach)] =
            windowed_sinc(static_cast<double>(k) - fraction);
    const auto frames = static_cast<std::int64_t>(waveform.size());
    std::vector<double> out(waveform.size());
    for (std::int64_t f = 0; f < frames; ++f)
        for (std::int64_t from = std::max<std::int64_t>(0, f - reach);
             from < std::min(frames, f + reach + 1); ++from)
            out[static_cast<std::size_t>(f)] += waveform[static_cast<std::size_t>(from)] *
                                                weights[static_cast<std::size_t>(f - from + reach)];
    return out;
}

}  // namespace spikeweave::templates
