#include "spikeweave/sort/detected_features.hpp"

#include <utility>

namespace spikeweave {

spike_features to_features(const detection_result& spikes) {
    const std::size_t width = spikes.features_per_channel;
    spike_masks masks;
    masks.offsets.reserve(spikes.mask_offsets.size());
    masks.columns.reserve(spikes.masks.size() * width);
    masks.values.reserve(spikes.masks.size() * width);
    for (std::size_t n = 0; n < spikes.size(); ++n) {
        for (std::size_t i = spikes.mask_offsets[n]; i < spikes.mask_offsets[n + 1]; ++i) {
            for (std::size_t k = 0; k < width; ++k) {
                const std::size_t column = spikes.mask_channels[i] * width + k;
                masks.columns.push_back(static_cast<std::uint32_t>(column));
                masks.values.push_back(spikes.masks[i]);
            }
        }
        masks.offsets.push_back(masks.columns.size());
    }
    return {spikes.features_per_spike(),
            std::vector<double>(spikes.features.begin(), spikes.features.end()), std::move(masks)};
}

}  // namespace spikeweave
