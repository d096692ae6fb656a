#include "sort/templates/pooled_channels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace spikeweave::templates {
namespace {

std::vector<recording_channel> line_of(std::size_t channels, double apart_um) {
    std::vector<recording_channel> out(channels);
    for (std::size_t c = 0; c < channels; ++c) out[c].y_um = apart_um * static_cast<double>(c);
    return out;
}

channel_block block_of(std::size_t channels, std::size_t frames) {
    channel_block out{.first = 7, .frames = frames, .channels = channels};
    out.values.resize(channels * frames);
    return out;
}

TEST(PooledChannels, KeepTheSizeOfIndependentNoise) {
    channel_block noise = block_of(9, 20000);
    std::mt19937_64 random(5);
    std::normal_distribution<float> normal;
    for (float& x : noise.values) x = normal(random);

    const channel_block pooled = pooled_channels(line_of(9, 40)).pool(noise);

    EXPECT_EQ(pooled.first, 7U);
    ASSERT_EQ(pooled.values.size(), noise.values.size());
    for (std::size_t c = 0; c < 9; ++c) {
        double squares = 0;
        for (const float x : pooled.on(c)) squares += double{x} * x;
        EXPECT_NEAR(std::sqrt(squares / 20000), 1, 0.03) << c;
    }
}

// Weights 1, e^-0.5 on both sides and e^-2 beyond, whatever the distance of the channels is.
TEST(PooledChannels, RaiseWhatReachesManyChannels) {
    for (const double apart_um : {20.0, 200.0}) {
        channel_block wide = block_of(9, 1);
        for (float& x : wide.values) x = 1;
        const double near = std::exp(-0.5);
        const double far = std::exp(-2);
        const double norm = std::sqrt(1 + 2 * near * near + 2 * far * far);

        const pooled_channels of(line_of(9, apart_um));

        EXPECT_NEAR(of.pool(wide).on(4)[0], (1 + 2 * near + 2 * far) / norm, 1e-6);
        channel_block narrow = block_of(9, 1);
        narrow.on(4)[0] = 1;
        EXPECT_NEAR(of.pool(narrow).on(4)[0], 1 / norm, 1e-6);
        EXPECT_NEAR(of.pool(narrow).on(6)[0], far / norm, 1e-6);
        EXPECT_EQ(of.pool(narrow).on(7)[0], 0);
    }
}

TEST(PooledChannels, StayApartOnShanksAndAreFewAtOnePlace) {
    std::vector<recording_channel> channels = line_of(4, 0);
    channels[2].shank = 1;
    channels[3].shank = 2;
    channel_block traces = block_of(4, 2);
    traces.on(0)[1] = 3;
    traces.on(2)[0] = 5;

    const channel_block pooled = pooled_channels(channels).pool(traces);

    EXPECT_NEAR(pooled.on(0)[1], 3 / std::sqrt(2), 1e-6);
    EXPECT_NEAR(pooled.on(1)[1], 3 / std::sqrt(2), 1e-6);
    EXPECT_EQ(pooled.on(2)[0], 5);
    EXPECT_EQ(pooled.on(2)[1], 0);
    EXPECT_EQ(pooled.on(3)[0], 0);
}

}  // namespace
}  // namespace spikeweave::templates
