#include "spikeweave/record/mean_waveforms.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "record/detect/waveforms.hpp"
#include "support/recordings.hpp"

namespace spikeweave {

using record::waveform_window;
using record::window_of;

namespace {

constexpr std::size_t frames = 40'000;
constexpr std::size_t channels = 3;

struct some_spikes {
    std::vector<std::int64_t> frames{};
    std::vector<std::uint32_t> groups{};
};

// Makes unsorted spikes, some at both ends, of two groups and an empty one.
some_spikes spikes_all_over() {
    some_spikes out;
    for (std::size_t i = 0; i < 300; ++i) {
        out.frames.push_back(static_cast<std::int64_t>(i * 7919 % frames));
        out.groups.push_back(i % 3 == 0 ? 2 : 0);
    }
    out.frames.insert(out.frames.end(), {0, static_cast<std::int64_t>(frames) - 1});
    out.groups.insert(out.groups.end(), {2, 2});
    return out;
}

TEST(MeanWaveforms, AreTheMeansOfFilteredTraces) {
    const recording from = noisy_recording(1, channels, frames, 200);
    const some_spikes spikes = spikes_all_over();
    const detection_options options;
    const waveform_window window = window_of(options, from.rate_hz());
    const filtered_recording traces(from, options.preprocessing);
    std::vector<float> all(frames * channels);
    traces.read(0, all);

    const mean_waveforms means =
        average_waveforms(from, spikes.frames, spikes.groups, 3, options, {}, 1000);

    ASSERT_EQ(means.frame_count, window.size());
    ASSERT_EQ(means.spikes, (std::vector<std::uint64_t>{200, 0, 102}));
    for (std::uint32_t g = 0; g < 3; ++g)
        for (std::size_t f = 0; f < means.frame_count; ++f)
            for (std::size_t c = 0; c < channels; ++c) {
                double sum = 0;
                double squares = 0;
                for (std::size_t n = 0; n < spikes.frames.size(); ++n) {
                    const std::int64_t at =
                        spikes.frames[n] - window.before + static_cast<std::int64_t>(f);
                    if (spikes.groups[n] != g || at < 0 || at >= static_cast<std::int64_t>(frames))
                        continue;
                    const double value = all[static_cast<std::size_t>(at) * channels + c];
                    sum += value;
                    squares += value * value;
                }
                const auto count = std::max(2.0, static_cast<double>(means.spikes[g]));
                const double mean = sum / count;
                const double deviation = std::sqrt((squares - count * mean * mean) / (count - 1));
                ASSERT_NEAR(means.of(g)[f * channels + c], mean, 1e-4) << g << " " << f;
                ASSERT_NEAR(means.deviations[(g * means.frame_count + f) * channels + c], deviation,
                            1e-3)
                    << g << " " << f;
                double sum_of_halves = 0;
                for (std::size_t h = 0; h < 2; ++h)
                    sum_of_halves += means.halves[h][(g * means.frame_count + f) * channels + c] *
                                     static_cast<double>(means.spikes_of_halves[h][g]);
                ASSERT_NEAR(sum_of_halves, sum, 1e-2) << g << " " << f;
            }
    const auto in_first =
        static_cast<std::size_t>(std::ranges::count_if(spikes.frames, [&](std::int64_t at) {
            return at < static_cast<std::int64_t>(frames) / 2;
        }));
    EXPECT_EQ(means.spikes_of_halves[0][0] + means.spikes_of_halves[0][2], in_first);
    EXPECT_FALSE(means.signal_to_noise(1));
    EXPECT_EQ(means.noise.size(), channels);
}

TEST(MeanWaveforms, TakeSomeOfManySpikesAndAllOfFew) {
    const recording from = noisy_recording(1, channels, frames, 200);
    const some_spikes spikes = spikes_all_over();

    const mean_waveforms means =
        average_waveforms(from, spikes.frames, spikes.groups, 3, {}, {}, 150);

    EXPECT_EQ(means.spikes, (std::vector<std::uint64_t>{150, 0, 102}));
}

TEST(MeanWaveforms, AreTheSameOnAnyNumberOfThreads) {
    const recording from = noisy_recording(2, channels, frames, 200);
    const some_spikes spikes = spikes_all_over();

    const auto one =
        average_waveforms(from, spikes.frames, spikes.groups, 3, {}, {.threads = 1}, 50);
    const auto eight =
        average_waveforms(from, spikes.frames, spikes.groups, 3, {}, {.threads = 8}, 50);

    EXPECT_EQ(one.values, eight.values);
    EXPECT_EQ(one.deviations, eight.deviations);
}

TEST(MeanWaveforms, SignalIsTheLargestHeightOverTheNoiseOfItsChannel) {
    const mean_waveforms means{.channel_count = 2,
                               .frame_count = 2,
                               .values = {1, -6, 3, 2, 0, 9, 0, 0},
                               .spikes = {4, 1},
                               .noise = {0.5, 2}};
    EXPECT_EQ(means.signal_to_noise(0), 6.0);  // 3 / 0.5, not 6 / 2
    EXPECT_EQ(means.signal_to_noise(1), 4.5);
    mean_waveforms silent = means;
    silent.noise = {0, 0};
    EXPECT_FALSE(silent.signal_to_noise(0));
}

TEST(MeanWaveforms, RefuseSpikesOutsideOfTheRecording) {
    const recording from = noisy_recording(1, channels, 1000, 0);
    const std::vector<std::uint32_t> groups{0};
    const auto refused = [&](std::vector<std::int64_t> at, std::size_t count) {
        EXPECT_THROW(average_waveforms(from, at, groups, count), invalid_argument);
    };
    refused({1000}, 1);
    refused({-1}, 1);
    refused({5}, 0);
    refused({5, 6}, 1);
}

}  // namespace
}  // namespace spikeweave
