#pragma once

#include <gtest/gtest.h>

#include <string>

#include "spikeweave/record/detection.hpp"

/// Compares everything, bit by bit.
inline void expect_same_spikes(const spikeweave::detection_result& found,
                               const spikeweave::detection_result& expected,
                               const std::string& what) {
    EXPECT_EQ(found.noise, expected.noise) << what;
    EXPECT_EQ(found.frames, expected.frames) << what;
    EXPECT_EQ(found.peak_channels, expected.peak_channels) << what;
    EXPECT_EQ(found.mask_offsets, expected.mask_offsets) << what;
    EXPECT_EQ(found.mask_channels, expected.mask_channels) << what;
    EXPECT_EQ(found.masks, expected.masks) << what;
    EXPECT_EQ(found.fractions, expected.fractions) << what;
    EXPECT_EQ(found.features, expected.features) << what;
    EXPECT_EQ(found.cut, expected.cut) << what;
    EXPECT_EQ(found.warnings, expected.warnings) << what;
}
