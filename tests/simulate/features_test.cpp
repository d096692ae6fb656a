#include "spikeweave/simulate/features.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

std::uint64_t digest(const simulated_features& made) {
    std::uint64_t hash = 14695981039346656037U;
    const auto add = [&](std::uint64_t bits) {
        hash ^= bits;
        hash *= 1099511628211U;
    };
    for (const double value : made.features.values()) add(std::bit_cast<std::uint64_t>(value));
    for (const std::int64_t sample : made.samples) add(static_cast<std::uint64_t>(sample));
    return hash;
}

TEST(SimulateFeatures, GivesTheSameNumbersOnEveryMachineAndAnyNumberOfThreads) {
    const feature_options options{.spikes = 3000, .units = 4, .channels = 6, .seed = 3};
    const simulated_features one = simulate_features(options, {.threads = 1});
    const simulated_features many = simulate_features(options, {.threads = 5});
    EXPECT_EQ(one.features, many.features);
    EXPECT_EQ(one.truth, many.truth);
    EXPECT_EQ(digest(one), digest(many));
    EXPECT_EQ(digest(one), 9966715742011943331U);
    feature_options other = options;
    other.seed = 4;
    EXPECT_NE(digest(simulate_features(other)), digest(one));
}

TEST(SimulateFeatures, HasNoiseOfOneAndUnitsOfTheirHeights) {
    const simulated_features made = simulate_features({.spikes = 20'000, .units = 5, .seed = 1});
    const std::size_t width = made.features.feature_count();
    ASSERT_EQ(width, 96U);
    ASSERT_EQ(made.truth.size(), 20'000U);
    EXPECT_NEAR(static_cast<double>(std::count(made.truth.begin(), made.truth.end(), 0U)), 600,
                100);
    for (std::uint32_t u = 1; u <= 5; ++u) {
        std::vector<double> mean(width);
        std::vector<double> squares(width);
        double count = 0;
        for (std::size_t n = 0; n < made.truth.size(); ++n) {
            if (made.truth[n] != u) continue;
            ++count;
            for (std::size_t i = 0; i < width; ++i) mean[i] += made.features.values(n)[i];
            for (std::size_t i = 0; i < width; ++i)
                squares[i] += made.features.values(n)[i] * made.features.values(n)[i];
        }
        EXPECT_NEAR(count, 3880, 250);
        double largest = 0;
        for (std::size_t i = 0; i < width; ++i) {
            mean[i] /= count;
            largest = std::max(largest, std::abs(mean[i]));
            // The variance of the noise plus that of the amplitude.
            EXPECT_NEAR(squares[i] / count - mean[i] * mean[i], 1 + 0.12 * 0.12 * mean[i] * mean[i],
                        0.2 + 0.003 * mean[i] * mean[i]);
        }
        // The peak may be half a channel away from the nearest channel.
        EXPECT_GT(largest, 8 * 0.9 - 0.2);
        EXPECT_LT(largest, 20.2);
    }
}

TEST(SimulateFeatures, MasksHangTogetherAndRiseFromTwoToFourAndAHalf) {
    const simulated_features made = simulate_features({.spikes = 500, .units = 3, .seed = 2});
    for (std::size_t n = 0; n < 500; ++n) {
        const auto columns = made.features.unmasked(n);
        ASSERT_FALSE(columns.empty());
        EXPECT_EQ(columns.size() % 3, 0U);
        EXPECT_EQ(columns.back() - columns.front() + 1, columns.size());
        for (std::size_t a = 0; a < columns.size(); a += 3) {
            double most = 0;
            for (std::size_t c = 0; c < 3; ++c)
                most = std::max(most, std::abs(made.features.values(n)[columns[a] + c]));
            EXPECT_NEAR(made.features.mask_values(n)[a], std::min(1.0, (most - 2) / 2.5), 1e-12);
        }
    }
    EXPECT_TRUE(std::is_sorted(made.samples.begin(), made.samples.end()));
    EXPECT_NEAR(static_cast<double>(made.samples.back()), 5 * 30'000, 30'000);
}

TEST(SimulateFeatures, AreReadAsTheyWereWritten) {
    const temporary_folder folder;
    const simulated_features made =
        simulate_features({.spikes = 200, .units = 2, .channels = 5, .seed = 9});
    write_simulated_features(folder.path() / "a.npz", made);
    const feature_file read = read_features(folder.path() / "a.npz");
    EXPECT_EQ(read.features, made.features);
    EXPECT_EQ(read.samples, made.samples);
    EXPECT_EQ(read.sample_rate, 30'000);
    EXPECT_TRUE(read.warnings.empty());
}

TEST(SimulateFeatures, RefusesWhatCannotBe) {
    const std::vector<feature_options> wrong{
        {.spikes = 0},
        {.units = 0},
        {.channels = 0},
        {.features_per_channel = 0},
        {.channels = 1U << 20},
        {.low_height = -1},
        {.high_height = 1},
        {.width = 0},
        {.amplitude_jitter = 2},
        {.separation = -1},
        {.of_no_unit = std::numeric_limits<double>::quiet_NaN()},
        {.spike_rate_hz = 0},
        {.rate_hz = 0},
        // There is no space for these units.
        {.units = 50, .channels = 1, .separation = 15},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i)
        EXPECT_THROW(simulate_features(wrong[i]), invalid_argument) << i;
}

}  // namespace
}  // namespace spikeweave
