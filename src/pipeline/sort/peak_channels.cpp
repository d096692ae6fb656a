#include <algorithm>
#include <cmath>
#include <span>

#include "spikeweave/pipeline/sort.hpp"

namespace spikeweave {

std::vector<std::uint32_t> peak_channels(const sort_result& result) {
    const mean_waveforms& mean = result.waveforms;
    std::vector<std::uint32_t> peaks;
    if (mean.group_count() == 0) {
        for (const sorted_unit& unit : result.units)
            peaks.push_back(
                static_cast<std::uint32_t>(unit.peak_feature / result.features_per_channel));
        return peaks;
    }
    // Group 0 is noise.
    for (std::size_t u = 1; u < mean.group_count(); ++u) {
        const std::span<const float> values = mean.of(u);
        const auto largest =
            std::ranges::max_element(values, {}, [](float value) { return std::abs(value); });
        peaks.push_back(static_cast<std::uint32_t>(
            static_cast<std::size_t>(largest - values.begin()) % mean.channel_count));
    }
    return peaks;
}

}  // namespace spikeweave
