#include "spikeweave/sort/detected_features.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

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

// Whether the features of masked spikes show how noisy every channel is.
bool show_noise(const spike_features& features) {
    std::vector<std::size_t> masked(features.feature_count());
    for (std::size_t n = 0; n < features.size(); ++n) {
        features.for_each_known(n, [&](std::size_t f, double) { ++masked[f]; });
        for (const std::uint32_t f : features.unmasked(n)) --masked[f];
    }
    return std::ranges::min(masked) >= spike_features::enough_masked;
}

// Frames in some parts of the recording, none within 2 ms of a spike or of each other.
std::vector<std::int64_t> quiet_frames(std::uint64_t frame_count, double rate_hz,
                                       std::span<const std::int64_t> spikes) {
    constexpr std::int64_t parts = 32;
    constexpr double part_s = 0.25;
    constexpr double apart_s = 0.002;
    const auto all = static_cast<std::int64_t>(frame_count);
    const std::int64_t apart = std::llround(apart_s * rate_hz);
    const std::int64_t length = std::llround(part_s * rate_hz);
    std::vector<std::int64_t> out;
    for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t at = part * all / parts + apart;
             at < std::min(part * all / parts + length, (part + 1) * all / parts) - apart;
             at += apart) {
            const auto next = std::ranges::lower_bound(spikes, at - apart);
            if (next == spikes.end() || *next > at + apart) out.push_back(at);
        }
    return out;
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

void add_noise(spike_features& features, const recording& from,
               std::span<const std::int64_t> frames, const detection_options& options,
               const execution& run) {
    if (features.size() == 0 || show_noise(features)) return;
    const std::vector<std::int64_t> quiet =
        quiet_frames(from.frame_count(), from.rate_hz(), frames);
    const std::vector<float> fractions(quiet.size());
    std::vector<std::uint32_t> around(quiet.size());
    for (std::size_t n = 0; n < quiet.size(); ++n)
        around[n] = static_cast<std::uint32_t>(n % from.channel_count());
    const spike_features there = to_features(describe_spikes(
        from, {.frames = quiet, .fractions = fractions, .peak_channels = around}, options, run));
    std::vector<double> squares(features.feature_count());
    std::vector<double> numbers(features.feature_count());
    for (std::size_t n = 0; n < there.size(); ++n)
        there.for_each_known(n, [&](std::size_t f, double value) {
            squares[f] += value * value;
            ++numbers[f];
        });
    for (std::size_t f = 0; f < squares.size(); ++f)
        squares[f] = std::sqrt(squares[f] / std::max(1.0, numbers[f]));
    features.set_noise(std::move(squares));
}

}  // namespace spikeweave
