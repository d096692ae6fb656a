#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "assess/surrogates/generators.hpp"
#include "assess/surrogates/surrogate_samples.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {

using assess::gaussian_filter;
using assess::square;
using namespace surrogate_samples;

namespace {

using namespace std::chrono_literals;
using enum surrogate_method;

// Counts the displacements of one spike between two others over many surrogates.
std::map<std::int64_t, int> steps_of(const times_us& times, const surrogate_options& options,
                                     std::size_t spike, std::uint32_t surrogates = 4'000) {
    const surrogate_maker maker(one_unit(times, {0s, 10s}), options);
    std::map<std::int64_t, int> out;
    for (std::uint32_t s = 0; s < surrogates; ++s)
        ++out[times_of(maker.make_sequence(s).spikes)[spike] - times[spike]];
    return out;
}

TEST(JointIsiDithering, KeepsTheEndsAndStaysWithinTheDither) {
    for (const surrogate_method method : {joint_isi_dithering, isi_dithering})
        for (const bool alternate : {true, false})
            for (const joint_isi_steps steps : {joint_isi_steps::window, joint_isi_steps::fast}) {
                const spike_sequence spikes = units_with_dead_times(3);
                const surrogate_options options{
                    .method = method,
                    .dither = 15ms,
                    .seed = 1,
                    .joint_isi = {.alternate = alternate, .steps = steps}};
                const spike_sequence made = make_surrogate(spikes, options, 0);
                for (std::uint32_t u = 0; u < 3; ++u) {
                    const times_us from = times_of(spikes, u);
                    const times_us to = times_of(made, u);
                    ASSERT_EQ(from.size(), to.size());
                    EXPECT_EQ(from.front(), to.front());
                    EXPECT_EQ(from.back(), to.back());
                    std::int64_t largest = 0;
                    for (std::size_t i = 0; i < from.size(); ++i)
                        largest = std::max(largest, std::abs(to[i] - from[i]));
                    if (steps == joint_isi_steps::window) {
                        EXPECT_LE(largest, 15'000);
                    }
                    EXPECT_GT(largest, 12'000);
                }
            }
}

// Only the pairs of intervals (10.5, 30.5) ms and (30.5, 10.5) ms occur, unsmoothed: each second
// spike is at one of two positions, 20 ms apart.
TEST(JointIsiDithering, DrawsFromThePairsOfIntervalsThatThereAre) {
    times_us times{0};
    for (int i = 0; i < 40; ++i) times.push_back(times.back() + (i % 2 == 0 ? 10'500 : 30'500));
    surrogate_options options{
        .method = joint_isi_dithering, .dither = 25ms, .joint_isi = {.sigma = 0ms}};
    // There are 20 pairs (10, 30) and 19 pairs (30, 10), because spikes move one after another.
    const auto steps = steps_of(times, options, 1);
    EXPECT_EQ(steps.size(), 2U);
    EXPECT_NEAR(steps.at(20'000), 4'000 * 19 / 39.0, 150);
    options.dither = 19ms;
    EXPECT_EQ(steps_of(times, options, 1).size(), 1U);
    options.joint_isi.steps = joint_isi_steps::fast;
    EXPECT_EQ(steps_of(times, options, 1).size(), 2U);
    // Single intervals of 10 and 30 can also be combined with themselves, but have no other sum of
    // 40; with smoothed neighbours there are more combinations.
    options.method = isi_dithering;
    EXPECT_EQ(steps_of(times, options, 1).size(), 2U);
    options.joint_isi.sigma = 2ms;
    EXPECT_GT(steps_of(times, options, 1).size(), 10U);
}

// The window has 20 cells forward and 19 back.
TEST(JointIsiDithering, LeavesOutTheFarthestStepBack) {
    times_us times{0};
    for (int i = 0; i < 40; ++i) times.push_back(times.back() + (i % 2 == 0 ? 30'500 : 10'500));
    surrogate_options options{
        .method = joint_isi_dithering, .dither = 20ms, .joint_isi = {.sigma = 0ms}};
    EXPECT_EQ(steps_of(times, options, 1).size(), 1U);
    options.dither = 21ms;
    EXPECT_EQ(steps_of(times, options, 1).size(), 2U);
}

TEST(JointIsiDithering, KnowsWhichIntervalComesFirst) {
    times_us times{0};
    for (int i = 0; i < 30; ++i)
        times.push_back(times.back() + std::array{10'500, 30'500, 200'000}[i % 3U]);
    const surrogate_options options{
        .method = joint_isi_dithering, .dither = 25ms, .joint_isi = {.sigma = 0ms}};
    // 30 ms never occurs before 10 ms.
    EXPECT_EQ(steps_of(times, options, 1), (std::map<std::int64_t, int>{{0, 4'000}}));
    surrogate_options single = options;
    single.method = isi_dithering;
    EXPECT_EQ(steps_of(times, single, 1).size(), 2U);
}

TEST(JointIsiDithering, LetsNoTwoSpikesMeet) {
    // (1, 3) ms could become (4, 0) ms, because (4, 0.5) ms occurs.
    times_us times{0};
    for (int i = 0; i < 30; ++i)
        times.push_back(times.back() +
                        std::array{1'000, 3'000, 200'000, 4'000, 500, 200'000}[i % 6U]);
    const auto steps = steps_of(
        times, {.method = joint_isi_dithering, .dither = 25ms, .joint_isi = {.sigma = 0ms}}, 1);
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps.begin()->first, 0);
    EXPECT_EQ(steps.rbegin()->first, 2'999);
}

TEST(JointIsiDithering, MovesUniformlyWhereIntervalsAreTooLong) {
    const times_us times{0, 80'000, 160'000};
    const surrogate_options options{.method = joint_isi_dithering, .dither = 15ms};
    const surrogate_maker maker(one_unit(times, {0s, 1s}), options);
    times_us by;
    for (std::uint32_t s = 0; s < 100'000; ++s)
        by.push_back(maker.make_sequence(s).spikes.times_us()[1] - times[1]);
    EXPECT_LT(distance_from_uniform(by, -15'000, 15'000), at_p_of_one_in_a_thousand);
}

TEST(JointIsiDithering, LeavesNoIntervalBelowTheDeadTimeCell) {
    times_us times{0};
    random_stream random(1, random_purpose::poisson_spikes, 0);
    for (int i = 0; i < 2'000; ++i)
        times.push_back(times.back() + 5'000 + static_cast<std::int64_t>(random.below(30'000)));
    for (const bool cutoff : {true, false}) {
        const surrogate_options options{
            .method = joint_isi_dithering, .dither = 15ms, .joint_isi = {.cutoff = cutoff}};
        const auto made = times_of(make_surrogate(one_unit(times, {0s, 100s}), options, 0));
        const std::int64_t shortest = std::ranges::min(intervals_of(made));
        EXPECT_EQ(shortest >= 4'000, cutoff) << shortest;
    }
}

TEST(JointIsiDithering, RefusesHistogramsThatCannotBe) {
    const spike_sequence spikes = units_with_dead_times();
    const auto with = [&](joint_isi_options how) {
        surrogate_maker(spikes, {.method = isi_dithering, .joint_isi = how});
    };
    EXPECT_NO_THROW(with({}));
    EXPECT_THROW(with({.truncation_limit = 0ms}), invalid_argument);
    EXPECT_THROW(with({.bins = 1}), invalid_argument);
    EXPECT_THROW(with({.bins = 1'001}), invalid_argument);
    EXPECT_THROW(with({.sigma = -1ms}), invalid_argument);
    EXPECT_THROW(with({.refractory_period = -1ms}), invalid_argument);
}

// The expected values are those of scipy.ndimage.gaussian_filter (scipy 1.17.1) for the same
// square.
TEST(GaussianFilter, EqualsScipys) {
    const std::array<std::pair<double, std::array<double, 5>>, 3> expected{
        {{0.5,
          {0.7985214730885484, 4.082524786383685, 3.8119156677371415, 5.189569558366261,
           1.9739934654268474}},
         {1.7,
          {2.7536446593409543, 3.475628735288954, 2.99759242593626, 4.279694669037404,
           2.571143533194757}},
         // The kernel is wider than the square with its mirror image.
         {4.0,
          {3.139035823321712, 3.077940965315073, 3.098603083740153, 3.1804181868981356,
           3.0679036840848775}}}};
    for (const auto& [sigma, values] : expected) {
        square s(6);
        for (std::size_t i = 0; i < 6; ++i)
            for (std::size_t j = 0; j < 6; ++j)
                s.at(i, j) = static_cast<double>((3 * i * i + 5 * j + 2 * i * j) % 7);
        gaussian_filter(s, sigma);
        EXPECT_NEAR(s.at(0, 0), values[0], 1e-12);
        EXPECT_NEAR(s.at(0, 5), values[1], 1e-12);
        EXPECT_NEAR(s.at(2, 3), values[2], 1e-12);
        EXPECT_NEAR(s.at(5, 0), values[3], 1e-12);
        EXPECT_NEAR(s.at(4, 4), values[4], 1e-12);
    }
}

}  // namespace
}  // namespace spikeweave
