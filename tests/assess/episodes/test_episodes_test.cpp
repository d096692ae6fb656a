#include "spikeweave/assess/episodes.hpp"

#include <gtest/gtest.h>

#include "spikeweave/simulate/spikes.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

TEST(CheckTests, SaysHowManySurrogatesAlphaNeeds) {
    const spike_sequence spikes;
    const auto few = check_tests(spikes, {.alpha = 0.01}, {.surrogates = 50});
    ASSERT_EQ(few.size(), 1U);
    EXPECT_SAYS(few[0],
                "With 50 surrogates nothing can be significant at alpha 0.01: no p is "
                "below 0.02. Use at least 100.");
    EXPECT_EQ(check_tests(spikes, {.alpha = 0.01}, {.surrogates = 99}).size(), 1U);
    EXPECT_TRUE(check_tests(spikes, {.alpha = 0.01}, {.surrogates = 100}).empty());
    EXPECT_TRUE(check_tests(spikes, {.alpha = 0.01}).empty());
}

TEST(CheckTests, AsksAboutADitherOfSeconds) {
    const auto warnings = check_tests({}, {}, {.surrogates = 200, .dither = 25s});
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "The dither is 25 s long: were milliseconds given for seconds?");
}

TEST(JudgeEpisodes, HandsOnWhatSpeaksAgainstTheTests) {
    const spike_sequence spikes = simulate_poisson({.units = 3, .length = 5s}).spikes;
    const episode_table table = mine_episodes(spikes, {.delays = default_delays(), .min_count = 5});
    EXPECT_EQ(test_episodes(spikes, table, {}, {.surrogates = 5}).warnings,
              check_tests(spikes, {}, {.surrogates = 5}));
    EXPECT_TRUE(test_episodes(spikes, table).warnings.empty());
}

TEST(CheckTests, SaysThatSharedRatesAreNotConstant) {
    const spike_sequence bursts = simulate_culture({.channels = 10, .length = 60s}).spikes;
    const spike_sequence apart = simulate_poisson({.units = 10, .length = 60s}).spikes;
    const auto warned = [](const spike_sequence& spikes, significance_test test,
                           std::uint32_t surrogates = 0) {
        for (const std::string& one :
             check_tests(spikes, {.test = test}, {.surrogates = surrogates}))
            if (one.find("rise and fall together") != std::string::npos) return true;
        return false;
    };

    EXPECT_TRUE(warned(bursts, significance_test::exact));
    EXPECT_TRUE(warned(bursts, significance_test::chebyshev));
    EXPECT_FALSE(warned(bursts, significance_test::exact, 200));
    EXPECT_FALSE(warned(bursts, significance_test::jitter));
    EXPECT_FALSE(warned(apart, significance_test::exact));
    EXPECT_FALSE(warned({}, significance_test::exact));
}

}  // namespace
}  // namespace spikeweave
