#include <gtest/gtest.h>

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

}  // namespace
}  // namespace spikeweave
