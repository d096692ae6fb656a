#include "spikeweave/assess/episodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "spikeweave/assess/shared_rates.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "support/run_length.hpp"
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
    episode_table table = mine_episodes(spikes, {.delays = default_delays(), .min_count = 5});
    EXPECT_EQ(test_episodes(spikes, table, {}, {}, {.surrogates = 5}).warnings,
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

double spread(const std::array<double, 3>& counts) {
    double out = 0;
    for (const double a : counts)
        for (const double b : counts) out += (a - b) * (a - b) / 6;
    return out;
}

// The definition: all cells of an interval that are whole, third by third.
double ratio_within_cells(const spike_sequence& spikes, std::int64_t third) {
    double all = 0;
    double apart = 0;
    for (const time_span& one : spikes.observed())
        for (std::int64_t begin = one.begin.count(); begin + 3 * third <= one.end.count() + 1;
             begin += 3 * third) {
            std::array<double, 3> together{};
            std::map<unit_id, std::array<double, 3>> of_unit;
            for (std::size_t i = 0; i < spikes.size(); ++i) {
                const std::int64_t since = spikes.times_us()[i] - begin;
                if (since < 0 || since >= 3 * third) continue;
                ++together[static_cast<std::size_t>(since / third)];
                ++of_unit[spikes.units()[i]][static_cast<std::size_t>(since / third)];
            }
            all += spread(together);
            for (const auto& [unit, counts] : of_unit) apart += spread(counts);
        }
    return apart > 0 ? all / apart : 1;
}

TEST(RatesWithinCells, AreThoseOfTheDefinition) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        random_stream random(seed, random_purpose::poisson_spikes, 5);
        const auto length = static_cast<std::int64_t>(20 + random.below(400));
        std::vector<std::pair<std::int64_t, unit_id>> all;
        for (std::uint64_t i = random.below(80); i > 0; --i)
            all.emplace_back(
                static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(length) + 1)),
                unit_id{static_cast<std::uint32_t>(random.below(4))});
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        const spike_sequence spikes =
            sequence_of(std::move(all), {"a", "b", "c", "d"}, {0us, duration{length}});
        const auto third = static_cast<std::int64_t>(1 + random.below(30));
        EXPECT_NEAR(measure_rates_within_cells(spikes, duration{3 * third}).ratio,
                    ratio_within_cells(spikes, third), 1e-9)
            << seed;
    }
}

TEST(RatesWithinCells, AreCertainOnlyWhereBurstsRiseWithinThem) {
    const auto certain = [](const spike_sequence& spikes, duration width) {
        return measure_rates_within_cells(spikes, width).certain;
    };
    const spike_sequence bursts = simulate_culture({.length = 60s}).spikes;
    EXPECT_FALSE(certain(bursts, 10ms));
    EXPECT_TRUE(certain(bursts, 150ms));
    EXPECT_FALSE(certain({}, 10ms));
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const duration width : {10ms, 60ms, 300ms}) {
            const auto apart =
                simulate_poisson({.units = 20, .length = 30s, .rate_hz = 10, .seed = seed});
            EXPECT_FALSE(certain(apart.spikes, width)) << seed;
            EXPECT_NEAR(measure_rates_within_cells(apart.spikes, width).ratio, 1, 0.5);
        }
}

struct edges_and_warnings {
    std::size_t edges;
    bool warned;
};

edges_and_warnings edges_of(const spike_sequence& spikes, const std::vector<delay_interval>& delays,
                            const significance_options& significance = {}) {
    episode_table table = mine_episodes(spikes, {.delays = delays, .max_size = 2});
    const episode_test_result tests =
        test_episodes(spikes, table, {.delays = delays}, significance);
    const bool warned = std::ranges::any_of(tests.warnings, [](const std::string& one) {
        return one.find("units speed up together within") != std::string::npos;
    });
    return {tests.circuit.edges.size(), warned};
}

// In a network burst all pairs follow each other: hundreds of edges if rates were constant.
TEST(JudgeEpisodes, FindsNoEdgesInCommonBurstsByDefault) {
    const spike_sequence bursts = simulate_culture({.channels = 30, .length = 120s}).spikes;
    EXPECT_EQ(edges_of(bursts, default_delays()).edges, 0U);
    EXPECT_GT(edges_of(bursts, default_delays(), {.test = significance_test::exact}).edges, 200U);
}

TEST(JudgeEpisodes, WarnsOfBurstsThatRiseFasterThanTheTestPreserves) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const spike_sequence bursts = simulate_culture({.channels = 30}).spikes;
    const edges_and_warnings wide = edges_of(bursts, {{0ms, 50ms}});
    EXPECT_GT(wide.edges, 20U);
    EXPECT_TRUE(wide.warned);
    // Connections in cells of the default width are no bursts.
    const edges_and_warnings connected =
        edges_of(simulate_sym26({.seed = 1}).spikes, default_delays());
    EXPECT_GT(connected.edges, 5U);
    EXPECT_FALSE(connected.warned);
}

TEST(JudgeEpisodes, NamesADitherThatPreservesTheBursts) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const spike_sequence bursts = simulate_culture({.channels = 30, .length = 120s}).spikes;
    episode_table table = mine_episodes(bursts, {.delays = {{0ms, 50ms}}, .max_size = 2});
    const auto warnings = test_episodes(bursts, table).warnings;
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("with `surrogates=200` and `dither=6ms`, which preserve"),
              std::string::npos)
        << warnings[0];
    const episode_test_result by_surrogates =
        test_episodes(bursts, table, {}, {}, {.surrogates = 200, .dither = 6ms});
    EXPECT_TRUE(by_surrogates.circuit.edges.empty());
    EXPECT_TRUE(by_surrogates.warnings.empty());
}

}  // namespace
}  // namespace spikeweave
