#include "record/filter/across_channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {

using record::whitening_of;

namespace {

constexpr std::size_t frame_count = 20000;
using channel_traces = std::vector<std::vector<float>>;

// Noise that each channel shares with the one below it, and rare spikes on three of them.
channel_traces shared_noise(std::size_t channels, double share) {
    std::mt19937_64 random(3);
    const auto normal = [&random] {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11U) * 0x1p-53;
        return sum;
    };
    channel_traces out(channels, std::vector<float>(frame_count));
    for (std::size_t f = 0; f < frame_count; ++f) {
        double below = normal();
        const std::size_t spike = f % 50 == 0 ? random() % channels : channels;
        for (std::size_t c = 0; c < channels; ++c) {
            below = share * below + std::sqrt(1 - share * share) * normal();
            out[c][f] = static_cast<float>(5 * below - (c >= spike && c < spike + 3 ? 200 : 0));
        }
    }
    return out;
}

std::vector<recording_channel> in_a_line(std::size_t channels) {
    std::vector<recording_channel> out(channels);
    for (std::size_t c = 0; c < channels; ++c) out[c].y_um = 20 * static_cast<double>(c);
    return out;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
    return most;
}

// With all channels around each one, weights differ from those of the full covariance only because
// other frames are quiet: by 1 % of the largest weight, which is 0.2 to 0.3 for noise of 5.
TEST(WhiteningOfPairs, OfFewChannelsIsThatOfTheFullCovariance) {
    constexpr std::size_t channels = 12;
    const channel_traces traces = shared_noise(channels, 0.6);
    const std::vector<double> noise(channels, 5.0);
    const std::vector<float> full = whitening_of(traces, noise, in_a_line(channels), {}, channels);

    // One channel more, on a shank of its own.
    channel_traces more = traces;
    more.push_back(shared_noise(1, 0).front());
    const std::vector<double> more_noise(channels + 1, 5.0);
    std::vector<recording_channel> places = in_a_line(channels + 1);
    places.back().shank = 1;
    const std::vector<float> found = whitening_of(more, more_noise, places, {}, channels);

    std::vector<float> among_first;
    for (std::size_t k = 0; k < channels; ++k) {
        EXPECT_EQ(found[k * (channels + 1) + channels], 0);
        EXPECT_EQ(found[channels * (channels + 1) + k], 0);
        for (std::size_t c = 0; c < channels; ++c)
            among_first.push_back(found[k * (channels + 1) + c]);
    }
    EXPECT_NEAR(found.back(), 0.2, 0.002);
    EXPECT_GT(*std::ranges::max_element(full), 0.2);
    EXPECT_LT(largest_difference(among_first, full), 0.003);
}

TEST(WhiteningOfPairs, LeavesNoiseOfManyChannelsUncorrelated) {
    constexpr std::size_t channels = 40;
    const channel_traces traces = shared_noise(channels, 0.6);
    const std::vector<double> noise(channels, 5.0);
    const std::vector<float> found = whitening_of(traces, noise, in_a_line(channels), {}, 16);
    EXPECT_EQ(found, whitening_of(traces, noise, in_a_line(channels), {.threads = 3}, 16));
    EXPECT_EQ(found[0 * channels + 39], 0);
    EXPECT_EQ(std::ranges::count_if(found, [](float weight) { return weight != 0; }), 16 * 40);

    std::vector<double> shared(channels * channels);
    double frames = 0;
    for (std::size_t f = 0; f < frame_count; ++f) {
        if (f % 50 == 0) continue;  // spikes
        std::vector<double> frame(channels);
        for (std::size_t k = 0; k < channels; ++k)
            for (std::size_t c = 0; c < channels; ++c)
                frame[c] += traces[k][f] * found[k * channels + c];
        for (std::size_t a = 0; a < channels; ++a)
            for (std::size_t b = 0; b < channels; ++b)
                shared[a * channels + b] += frame[a] * frame[b];
        ++frames;
    }
    for (std::size_t a = 0; a < channels; ++a)
        for (std::size_t b = 0; b < channels; ++b)
            EXPECT_NEAR(shared[a * channels + b] / frames, a == b ? 1 : 0, 0.05) << a << " " << b;
}

// In 384 channels there is a spike in nearly every frame; pairs of them are quiet all the same.
TEST(WhiteningOfPairs, NeedsNoFrameInWhichAllChannelsAreQuiet) {
    constexpr std::size_t channels = 20;
    channel_traces traces = shared_noise(channels, 0.3);
    for (std::size_t f = 0; f < frame_count; ++f) traces[f % channels][f] = -300;
    const std::vector<double> noise(channels, 5.0);
    EXPECT_THROW(whitening_of(traces, noise, in_a_line(channels), {}, channels), invalid_argument);
    const std::vector<float> found = whitening_of(traces, noise, in_a_line(channels), {}, 8);
    for (std::size_t c = 0; c < channels; ++c) EXPECT_NEAR(found[c * channels + c], 0.21, 0.02);
}

TEST(WhiteningOfPairs, LeavesDeadChannelsOut) {
    constexpr std::size_t channels = 20;
    channel_traces traces = shared_noise(channels, 0.6);
    std::ranges::fill(traces[4], 0.0F);
    std::vector<double> noise(channels, 5.0);
    noise[4] = 0;
    const std::vector<float> found = whitening_of(traces, noise, in_a_line(channels), {}, 8);
    for (std::size_t c = 0; c < channels; ++c) {
        EXPECT_EQ(found[4 * channels + c], 0);
        EXPECT_EQ(found[c * channels + 4], 0);
    }
}

}  // namespace
}  // namespace spikeweave
