#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "mine/episodes/devices/device_set.hpp"
#include "published/occurrences/cuda/occurrences.hpp"
#include "published/segments/segments_per_episode.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/published/hybrid.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

// Tests what is particular to the published strategies on devices; their counts are tested with
// those of all strategies.
namespace spikeweave {
namespace {

using namespace std::chrono_literals;

execution on_the_first() {
    return {.devices = {0}};
}

// Given episodes of one size with everything that a counter needs.
struct counting_case {
    counting_case(const spike_sequence& spikes, const std::vector<episode>& what, tie_rule ties)
        : run(on_the_first()), candidates{what.front().size()} {
        for (const episode& one : what) {
            candidates.units.insert(candidates.units.end(), one.units.begin(), one.units.end());
            for (const delay_interval& delay : one.delays) {
                candidates.delays.push_back(static_cast<std::uint32_t>(intervals.size()));
                intervals.push_back({delay.low.count(), delay.high.count()});
            }
        }
        problem.emplace(episodes::counting_problem{spikes, intervals, ties, run});
        devices.emplace(*problem);
    }
    counting_case(const counting_case&) = delete;
    counting_case& operator=(const counting_case&) = delete;
    ~counting_case() = default;

    const episodes::device_problem& on_device() const { return devices->problems().front(); }

    execution run;
    std::vector<episodes::interval_us> intervals{};
    episodes::candidate_set candidates;
    std::optional<episodes::counting_problem> problem{};
    std::optional<episodes::device_set> devices{};
};

std::vector<episode> chains_of_neighbours(std::size_t size, const delay_interval& delay) {
    std::vector<episode> all;
    for (std::uint32_t u = 0; u < 40; ++u) {
        episode& one = all.emplace_back();
        for (std::uint32_t k = 0; k < size; ++k) one.units.push_back(unit_id{u + k});
        one.delays.assign(size - 1, delay);
    }
    return all;
}

// The published join of segments has no solution at some boundaries of bursty data with wide
// windows; counts are exact in spite of this.
TEST(SegmentsPerEpisode, ReportThePublishedJoinsFailuresOnACulture) {
    const auto simulated = simulate_culture({.length = 120s, .seed = 4});
    for (const std::size_t size : {2U, 3U, 4U}) {
        const auto chains = chains_of_neighbours(size, {10ms, 20ms});
        for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
            const auto expected = count_episodes(
                simulated.spikes, chains, {.ties = ties, .strategy = episode_strategy::segments});

            const auto counted = count_episodes(
                simulated.spikes, chains,
                {.ties = ties, .strategy = episode_strategy::segments_per_episode}, on_the_first());

            EXPECT_EQ(counted.counts, expected.counts);
            EXPECT_GT(counted.merge_misses, 0U);
            // With as many segments as on the CPU, the failures are the same.
            const counting_case same(simulated.spikes, chains, ties);
            const auto in_256 = episodes::count_in_segments(same.on_device(), same.candidates, 256);
            EXPECT_EQ(in_256.counts, expected.counts);
            EXPECT_EQ(in_256.merge_misses, expected.merge_misses) << size;
            EXPECT_GT(in_256.merge_misses, 0U) << size;
        }
    }
}

TEST(SegmentsPerEpisode, AnyNumberOfSegmentsGivesTheCount) {
    random_streams draw(21);
    for (std::size_t i = 0; i < property_cases(10'000); ++i) {
        const spike_sequence spikes = draw.spikes(60, 3);
        const std::vector<episode> what{
            draw.episode(2 + draw.below(3), static_cast<std::uint32_t>(spikes.unit_count()))};
        const tie_rule ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        const auto expected = count_episodes(spikes, what, {.ties = ties});
        const counting_case one(spikes, what, ties);
        for (const std::uint32_t segments : {1U, 2U, 3U, 7U, 33U, 1000U}) {
            ASSERT_EQ(episodes::count_in_segments(one.on_device(), one.candidates, segments).counts,
                      expected.counts)
                << segments << " segments, " << to_string(ties) << "\n"
                << counterexample(spikes, what[0]);
        }
    }
}

TEST(Occurrences, EveryCompactionGivesTheCounts) {
    const auto simulated = simulate_culture({.channels = 20, .length = 30s, .seed = 3});
    std::vector<episode> what;
    for (std::uint32_t u = 0; u + 2 < 20; ++u)
        what.push_back({{unit_id{u}, unit_id{u + 1}, unit_id{u + 2}}, {{0ms, 10ms}, {2ms, 12ms}}});
    for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
        const auto expected = count_episodes(simulated.spikes, what, {.ties = ties}).counts;
        for (const compaction_method how : {compaction_method::atomic, compaction_method::select,
                                            compaction_method::count_scan_write}) {
            const auto counted = count_episodes(
                simulated.spikes, what,
                {.ties = ties, .strategy = episode_strategy::occurrences, .compaction = how},
                on_the_first());
            EXPECT_EQ(counted.compacted_by, how);
            EXPECT_EQ(counted.counts, expected) << to_string(how) << ", " << to_string(ties);
        }
    }
}

// The memory is too small for slots, for lists of all starts, and for those of one start.
TEST(Occurrences, ThatDoNotFitAreCountedInParts) {
    random_streams draw(22);
    std::uint64_t refused = 0;
    for (std::size_t i = 0; i < property_cases(10'000); ++i) {
        const spike_sequence spikes = draw.spikes(60, 2);
        std::vector<episode> what;
        const std::size_t size = 2 + draw.below(3);
        for (int k = 0; k < 3; ++k)
            what.push_back(draw.episode(size, static_cast<std::uint32_t>(spikes.unit_count())));
        const tie_rule ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        const auto expected = count_episodes(spikes, what, {.ties = ties});
        counting_case several(spikes, what, ties);
        for (const compaction_method how : {compaction_method::atomic, compaction_method::select,
                                            compaction_method::count_scan_write}) {
            episodes::device_problem problem = several.on_device();
            problem.compaction = how;
            for (const std::uint64_t capacity : {4U, 20U, 100U, 1000U}) {
                try {
                    ASSERT_EQ(episodes::count_by_occurrences_within(problem, several.candidates,
                                                                    {capacity, 1})
                                  .counts,
                              expected.counts)
                        << to_string(how) << ", room for " << capacity << "\n"
                        << counterexample(spikes, what[0]);
                } catch (const device_error&) {
                    ++refused;
                    EXPECT_LT(capacity, 1000U);
                }
            }
        }
    }
    EXPECT_GT(refused, 0U);
}

TEST(TwoPass, LosesNothingAtTheThreshold) {
    random_streams draw(23);
    std::uint64_t eliminated = 0;
    for (std::size_t i = 0; i < property_cases(10'000); ++i) {
        const spike_sequence spikes = draw.spikes(24, 3);
        const std::vector<episode> what{
            draw.episode(2 + draw.below(3), static_cast<std::uint32_t>(spikes.unit_count()))};
        const std::uint64_t exact = count_episodes(spikes, what).counts[0];
        for (const std::uint64_t at_least : {1, 2, 3}) {
            const std::uint64_t counted =
                count_episodes(spikes, what,
                               {.strategy = episode_strategy::two_pass, .at_least = at_least},
                               on_the_first())
                    .counts[0];
            ASSERT_TRUE(exact >= at_least ? counted == exact : counted < at_least)
                << counterexample(spikes, what[0]);
            eliminated += counted < exact ? 1 : 0;
        }
    }
    EXPECT_GT(eliminated, 0U);
}

TEST(Hybrid, MeasuresItsDeviceAndSaysWhenItDidNot) {
    const temporary_folder cache;
    setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    const auto simulated = simulate_sym26({.length = 5s, .seed = 5});
    const auto chains = chains_of_neighbours(2, {4ms, 6ms});
    const std::vector<episode> some(chains.begin(), chains.begin() + 20);
    const auto counted = [&] {
        return count_episodes(simulated.spikes, some, {.strategy = episode_strategy::hybrid},
                              on_the_first());
    };
    const auto expected = count_episodes(simulated.spikes, some).counts;

    const auto unmeasured = counted();
    const hybrid_calibration table = calibrate_hybrid(0);
    const auto measured = counted();

    EXPECT_EQ(unmeasured.warnings.size(), 1U);
    EXPECT_TRUE(measured.warnings.empty());
    EXPECT_EQ(unmeasured.counts, expected);
    EXPECT_EQ(measured.counts, expected);
    EXPECT_EQ(load_hybrid_calibration(devices().front()), table);
    ASSERT_EQ(table.crossovers.size(), 7U);
    for (const hybrid_crossover& one : table.crossovers) EXPECT_GE(one.episodes, 32U) << one.size;
    unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace spikeweave
