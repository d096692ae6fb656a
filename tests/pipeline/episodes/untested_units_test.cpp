#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/pipeline/compare/episodes.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/pipeline/episodes/changes.hpp"
#include "spikeweave/pipeline/episodes/windows.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {
namespace {

// Two units follow each other 400 times in 400 s; of two others, one follows 15 spikes of the
// other.
spike_sequence two_busy_and_two_quiet_units() {
    spike_sequence_builder builder;
    const std::vector<unit_id> units{builder.unit("a"), builder.unit("b"), builder.unit("c"),
                                     builder.unit("d")};
    for (std::int64_t second = 0; second < 400; ++second) {
        const std::int64_t at = 1'000'000 * second;
        builder.append(at, units[0]);
        builder.append(at + 3'000, units[1]);
        if (second < 15) {
            builder.append(at + 500'000, units[2]);
            builder.append(at + 503'000, units[3]);
        }
    }
    return builder.finish();
}

// Where the circuit is built from the pairs that the search finds, not from tests of all pairs.
const significance_options by_rates{.test = significance_test::exact};

std::vector<std::string> warnings_of_untested(episode_options options) {
    options.significance = by_rates;
    std::vector<std::string> out = find_episodes(two_busy_and_two_quiet_units(), options).warnings;
    std::erase_if(out, [](const std::string& one) {
        return one.find("joint occurrences") == std::string::npos;
    });
    return out;
}

TEST(UntestedUnits, AreNamedIfTheThresholdWasChosenByDefault) {
    EXPECT_EQ(
        warnings_of_untested({}),
        std::vector<std::string>{
            "2 of 4 units fire too rarely to be tested (fewer than 20 joint occurrences with any "
            "other): c, d. Nothing is known about their connections; `max_size=2` with "
            "`min_count=10` tests more of them."});
}

TEST(UntestedUnits, AreThoseThatTheUserChoseOtherwise) {
    episode_options options;
    options.mining.min_count = 20;
    EXPECT_TRUE(warnings_of_untested(options).empty());
    options.mining.min_count.reset();
    options.mining.max_size = 1;
    EXPECT_TRUE(warnings_of_untested(options).empty());
}

TEST(UntestedUnits, HaveNoTestsOfPairsInASearchForSingleUnits) {
    episode_options options{.mining = {.delays = default_delays(), .max_size = 1}};
    EXPECT_FALSE(find_episodes(two_busy_and_two_quiet_units(), options).pairs.has_value());
    options.mining.max_size = 2;
    EXPECT_TRUE(find_episodes(two_busy_and_two_quiet_units(), options).pairs.has_value());
}

TEST(UntestedUnits, AreThoseThatFireTooRarelyForAnyPair) {
    const episode_result found = find_episodes(two_busy_and_two_quiet_units());
    ASSERT_TRUE(found.pairs.has_value());
    EXPECT_TRUE(found.pairs->untested_units.empty());

    spike_sequence_builder builder;
    const unit_id a = builder.unit("a");
    const unit_id b = builder.unit("b");
    const unit_id c = builder.unit("c");
    for (std::int64_t second = 0; second < 400; ++second) {
        builder.append(1'000'000 * second, a);
        builder.append(1'000'000 * second + 3'000, b);
        if (second < 12) builder.append(1'000'000 * second + 500'000, c);
    }
    const episode_result few_spikes = find_episodes(builder.finish());
    ASSERT_FALSE(few_spikes.warnings.empty());
    EXPECT_EQ(few_spikes.warnings.back(),
              "1 of 3 units fires too rarely for any of their pairs to be tested: c. Nothing is "
              "known about their connections.");
}

// The threshold of all windows together is not that of a window, which the advice would be for.
TEST(UntestedUnits, AreNotNamedForAllWindowsTogether) {
    using namespace std::chrono_literals;
    std::vector<time_span> windows;
    for (duration begin{0}; begin < 400s; begin += 40s) windows.push_back({begin, begin + 40s});

    const circuit_changes found =
        find_circuit_changes(two_busy_and_two_quiet_units(), windows, episode_options{});

    for (const std::string& warning : found.warnings)
        EXPECT_EQ(warning.find("joint occurrences"), std::string::npos) << warning;
}

std::size_t warnings_of_quiet_units(const std::vector<std::string>& warnings) {
    return static_cast<std::size_t>(std::ranges::count_if(warnings, [](const std::string& one) {
        return one.find("2 of 4 units fire too rarely to be tested") != std::string::npos &&
               one.find(": c, d. Nothing") != std::string::npos;
    }));
}

TEST(UntestedUnits, AreNamedForTheFirstWindow) {
    windowed_episode_options options;
    options.search.significance = by_rates;
    options.window = std::chrono::seconds{200};

    const windowed_episode_result found =
        find_episodes_in_windows(two_busy_and_two_quiet_units(), options);
    EXPECT_EQ(warnings_of_quiet_units(found.warnings), 0U) << "the threshold of a window is 10";

    options.window = std::chrono::seconds{399};
    EXPECT_EQ(warnings_of_quiet_units(
                  find_episodes_in_windows(two_busy_and_two_quiet_units(), options).warnings),
              1U);
    options.search.mining.min_count = 20;
    EXPECT_EQ(warnings_of_quiet_units(
                  find_episodes_in_windows(two_busy_and_two_quiet_units(), options).warnings),
              0U);
}

// A unit that repeats itself is in a frequent episode of two spikes, but in no pair of units.
TEST(UntestedUnits, AreNamedAlsoIfTheyRepeatThemselves) {
    spike_sequence_builder builder;
    const unit_id a = builder.unit("a");
    const unit_id b = builder.unit("b");
    for (std::int64_t second = 0; second < 400; ++second) {
        for (const std::int64_t later : {0, 3'000}) builder.append(1'000'000 * second + later, a);
        builder.append(1'000'000 * second + 500'000, b);
    }
    episode_options options{.significance = by_rates};
    options.mining.self_repeats = true;

    const episode_result found = find_episodes(builder.finish(), options);

    ASSERT_FALSE(found.warnings.empty());
    EXPECT_NE(found.warnings.back().find("2 of 2 units fire too rarely to be tested"),
              std::string::npos);
}

TEST(UntestedUnits, AreTestedAsTheWarningSays) {
    episode_options options;
    options.mining.min_count = 10;
    options.mining.max_size = 2;

    const episode_result found = find_episodes(two_busy_and_two_quiet_units(), options);

    const auto is_of_quiet_units = [](const counted_episode& one) {
        return one.what.units == std::vector<unit_id>{unit_id{2}, unit_id{3}};
    };
    EXPECT_TRUE(std::ranges::any_of(found.table.episodes, is_of_quiet_units));
}

}  // namespace
}  // namespace spikeweave
