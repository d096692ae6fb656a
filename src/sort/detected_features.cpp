#include "spikeweave/sort/detected_features.hpp"

#include <utility>

namespace spikeweave {

namespace {

spike_masks masks_of(const detection_result& spikes) {
    const std::size_t width = spikes.features_per_channel;
    spike_masks masks;
    masks.offsets.reserve(spikes.mask_offsets.size());
    masks.columns.reserve(spikes.masks.size() * width);
    masks.values.reserve(spikes.masks.size() * width);
    for (std::size_t n = 0; n + 1 < spikes.mask_offsets.size(); ++n) {
        for (std::size_t i = spikes.mask_offsets[n]; i < spikes.mask_offsets[n + 1]; ++i) {
            for (std::size_t k = 0; k < width; ++k) {
                const std::size_t column = spikes.mask_channels[i] * width + k;
                masks.columns.push_back(static_cast<std::uint32_t>(column));
                masks.values.push_back(spikes.masks[i]);
            }
        }
        masks.offsets.push_back(masks.columns.size());
    }
    return masks;
}

}  // namespace

spike_features to_features(const detection_result& spikes) {
    if (!spikes.described_channels.empty()) return to_features(detection_result(spikes));
    return {spikes.features_per_spike(),
            std::vector<double>(spikes.features.begin(), spikes.features.end()), masks_of(spikes)};
}

spike_features to_features(detection_result&& spikes) {
    if (spikes.described_channels.empty()) return to_features(std::as_const(spikes));
    spike_masks masks = masks_of(spikes);
    return spike_features::known_around(
        spikes.channel_count * spikes.features_per_channel,
        local_values{.features_per_channel = spikes.features_per_channel,
                     .patches = std::move(spikes.described_channels),
                     .patch_of = std::move(spikes.peak_channels),
                     .values = std::move(spikes.features)},
        std::move(masks));
}

}  // namespace spikeweave
