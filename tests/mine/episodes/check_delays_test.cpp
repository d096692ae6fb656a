#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Makes units that fire in turn at multiples of 1/30 s, rounded to microseconds, as in a video.
spike_sequence frames_of_a_camera() {
    spike_sequence_builder builder;
    int frame = 0;
    for (int i = 0; i < 400; ++i) {
        frame += 1 + i * i % 7;
        builder.append(std::llround(frame * 1e6 / 30), builder.unit(std::to_string(i % 5)));
    }
    return builder.finish();
}

TEST(CheckDelays, SaysWhichDelaysACoarseClockRulesOut) {
    const spike_sequence spikes = frames_of_a_camera();

    const auto none = check_delays(spikes, default_delays());
    ASSERT_EQ(none.size(), 1U);
    EXPECT_SAYS(none[0], "All times are multiples of 33.333 ms");
    EXPECT_SAYS(none[0], "1-4ms, 4-8ms, 8-12ms, 12-16ms, so nothing can be found");

    const auto some = check_delays(
        spikes, std::vector<delay_interval>{{1ms, 30ms}, {30ms, 40ms}, {40ms, 60ms}, {60ms, 70ms}});
    ASSERT_EQ(some.size(), 1U);
    EXPECT_SAYS(some[0], "no spike can follow another within 1-30ms, 40-60ms.");

    EXPECT_TRUE(check_delays(spikes, std::vector<delay_interval>{{30ms, 35ms}}).empty());
    // Frame 30 is at exactly one second.
    const auto long_after = check_delays(
        spikes, std::vector<delay_interval>{{998ms, 999ms}, {999ms - 1us, 1000ms - 1us}});
    ASSERT_EQ(long_after.size(), 1U);
    EXPECT_SAYS(long_after[0], "within 998-999ms.");
}

TEST(CheckDelays, NamesFourDelaysAndCountsTheRest) {
    std::vector<delay_interval> delays;
    for (auto low = 0ms; low < 30ms; low += 5ms) delays.push_back({low, low + 5ms});
    const auto warnings = check_delays(frames_of_a_camera(), delays);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "15-20ms and 2 more intervals, so nothing can be found");
}

TEST(CheckDelays, IsSilentWhereTimesAreFine) {
    const std::vector<delay_interval> narrow{{4200us, 4800us}};
    EXPECT_TRUE(check_delays(simulate_poisson({.seed = 3}).spikes, narrow).empty());
    EXPECT_TRUE(check_delays(spike_sequence{}, narrow).empty());

    // With few and distant spikes any interval may be the shortest.
    spike_sequence_builder seldom;
    std::mt19937_64 random(7);
    std::int64_t at = 0;
    for (int i = 0; i < 300; ++i)
        seldom.append(at += 700 + static_cast<std::int64_t>(random() % 4'000'000),
                      seldom.unit(std::to_string(i % 3)));
    EXPECT_TRUE(check_delays(seldom.finish(), narrow).empty());
}

TEST(CheckDelays, AsksAboutMillisecondsGivenForSeconds) {
    const spike_sequence spikes = simulate_poisson({.seed = 3}).spikes;
    const auto warnings = check_delays(spikes, std::vector<delay_interval>{{4s, 6s}});
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "The longest delay is 6 s long: were milliseconds given for seconds?");
    EXPECT_TRUE(check_delays(spikes, std::vector<delay_interval>{{100ms, 500ms}}).empty());
}

TEST(CheckDelays, IsWhatMiningWarnsOf) {
    const spike_sequence spikes = frames_of_a_camera();
    const auto table = mine_episodes(spikes, {.delays = default_delays(), .min_count = 20});
    EXPECT_EQ(table.warnings, check_delays(spikes, default_delays()));
}

}  // namespace
}  // namespace spikeweave
