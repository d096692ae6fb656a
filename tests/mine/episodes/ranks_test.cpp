// Mining episodes and testing them on several ranks give the same results as one process.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "support/on_ranks.hpp"
#include "support/random_streams.hpp"
#include "support/ranks.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

void expect_same(const episode_table& found, const episode_table& expected) {
    EXPECT_EQ(found.episodes, expected.episodes);
    EXPECT_EQ(found.threshold, expected.threshold);
    EXPECT_EQ(found.merge_misses, expected.merge_misses);
    ASSERT_EQ(found.levels.size(), expected.levels.size());
    for (std::size_t i = 0; i < found.levels.size(); ++i) {
        EXPECT_EQ(found.levels[i].candidates, expected.levels[i].candidates);
        EXPECT_EQ(found.levels[i].frequent, expected.levels[i].frequent);
        EXPECT_EQ(found.levels[i].survivor_bytes, expected.levels[i].survivor_bytes);
    }
}

void expect_same(const std::vector<episode_test>& found,
                 const std::vector<episode_test>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].expected, expected[i].expected);
        EXPECT_EQ(found[i].p, expected[i].p);
        EXPECT_EQ(found[i].q, expected[i].q);
        EXPECT_EQ(found[i].strength, expected[i].strength);
    }
}

class EpisodesOnRanks : public testing::TestWithParam<episode_strategy> {
protected:
    void SetUp() override { SPIKEWEAVE_NEEDS_RANKS(); }
};

INSTANTIATE_TEST_SUITE_P(Every, EpisodesOnRanks,
                         testing::ValuesIn(available_episode_strategies(device_kind::cpu)),
                         [](const auto& param) {
                             std::string name(to_string(param.param));
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST_P(EpisodesOnRanks, FindsWhatOneProcessFinds) {
    // A third of the time has a third of the occurrences.
    const std::uint32_t part = is_shortened_run() ? 3 : 1;
    const spike_sequence spikes = bursting_stream(5, 7, 1500 / part, 400'000 / part);
    for (const pair_method pairs : {pair_method::merge, pair_method::look_back}) {
        const episode_mining_options options{.delays = {{0us, 300us}, {300us, 900us}},
                                             .min_count = 14 / part,
                                             .strategy = GetParam(),
                                             .pairs = pairs};
        const episode_table expected = mine_episodes(spikes, options, {.threads = 1});
        ASSERT_GT(expected.episodes.size(), 100U);
        ASSERT_GT(expected.levels.size(), 3U);
        for (const int threads : {2, 1}) {
            on_ranks([&](int, std::shared_ptr<communicator> all) {
                expect_same(mine_episodes(spikes, options, {.threads = threads, .ranks = all}),
                            expected);
            });
            if (is_shortened_run()) break;
        }
    }
}

// The default threshold counts pairs, and some ranks may have no pair at all.
TEST(EpisodesOnRanks, FindsFewPairs) {
    SPIKEWEAVE_NEEDS_RANKS();
    const spike_sequence spikes = bursting_stream(6, 3, 900, 400'000);
    const episode_mining_options options{.delays = {{0us, 200us}}};
    const episode_table expected = mine_episodes(spikes, options, {.threads = 1});
    ASSERT_FALSE(expected.episodes.empty());
    on_ranks([&](int, std::shared_ptr<communicator> all) {
        expect_same(mine_episodes(spikes, options, {.threads = 1, .ranks = all}), expected);
    });
}

TEST(EpisodesOnRanks, TestsWhatOneProcessTests) {
    SPIKEWEAVE_NEEDS_RANKS();
    const spike_sequence spikes = bursting_stream(7, 8, 6000, 4'000'000);
    const episode_table table = mine_episodes(
        spikes, {.delays = {{0us, 2000us}, {2000us, 5000us}}, .min_count = 15, .max_size = 4});
    ASSERT_GT(table.episodes.size(), 100U);
    for (const significance_test test : {significance_test::jitter, significance_test::exact}) {
        const significance_options options{.test = test};
        const auto expected = test_against_null(spikes, table, options, {.threads = 1});
        const auto is_low = [](const episode_test& one) { return one.p < 0.05; };
        ASSERT_TRUE(std::ranges::any_of(expected, is_low));
        on_ranks([&](int, std::shared_ptr<communicator> all) {
            expect_same(test_against_null(spikes, table, options, {.threads = 1, .ranks = all}),
                        expected);
        });
    }
}

}  // namespace
}  // namespace spikeweave
