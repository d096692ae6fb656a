#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/detected_features.hpp"

namespace spikeweave {
namespace {

// Three channels with two features each; the second spike is on two channels.
detection_result two_spikes() {
    detection_result spikes;
    spikes.channel_count = 3;
    spikes.features_per_channel = 2;
    spikes.frames = {10, 20};
    spikes.mask_offsets = {0, 1, 3};
    spikes.mask_channels = {1, 0, 2};
    spikes.masks = {1, 0.25F, 1};
    spikes.features = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.5F};
    return spikes;
}

TEST(DetectedFeatures, HaveTheMaskOfTheirChannel) {
    const spike_features features = to_features(two_spikes());

    EXPECT_EQ(features.size(), 2U);
    EXPECT_EQ(features.feature_count(), 6U);
    EXPECT_EQ(std::vector(features.values(1).begin(), features.values(1).end()),
              (std::vector<double>{7, 8, 9, 10, 11, 12.5}));
    EXPECT_EQ(features.masks(),
              (spike_masks{{0, 2, 6}, {2, 3, 0, 1, 4, 5}, {1, 1, 0.25, 0.25, 1, 1}}));
}

TEST(DetectedFeatures, AreRefusedWhenTheyAreNotThoseOfTheSpikes) {
    detection_result spikes = two_spikes();
    spikes.features.pop_back();

    EXPECT_THROW(to_features(spikes), invalid_argument);
}

// On one channel, no spike is masked.
TEST(DetectedFeatures, TakeTheNoiseOfASingleChannelFromQuietParts) {
    recording_description described{.channels = {{.name = "0"}}, .rate_hz = 20'000};
    std::mt19937_64 random(3);
    std::normal_distribution<double> noise(0, 100);
    std::vector<std::int16_t> samples(200'000);
    for (std::int16_t& sample : samples) sample = static_cast<std::int16_t>(noise(random));
    for (std::size_t at = 500; at < samples.size(); at += 400)
        for (std::size_t f = 0; f < 8; ++f)
            samples[at + f] = static_cast<std::int16_t>(samples[at + f] - 1500);
    const recording from(described, samples);
    detection_options options;
    detection_result found = detect_spikes(from, options);
    const std::vector<std::int64_t> frames = found.frames;
    options.basis = found.basis;
    const std::size_t count = found.features_per_channel;
    double spike = 0;
    for (std::size_t n = 0; n < found.size(); ++n)
        spike += std::abs(found.features_of(n)[0]) / static_cast<double>(found.size());
    spike_features features = to_features(std::move(found));
    EXPECT_TRUE(features.noise().empty());

    add_noise(features, from, frames, options);

    ASSERT_EQ(features.noise().size(), count);
    for (const double deviation : features.noise()) {
        EXPECT_GT(deviation, 20);
        EXPECT_LT(deviation, spike / 10);
    }
}

}  // namespace
}  // namespace spikeweave
