#include <gtest/gtest.h>

#include <algorithm>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

spike_sequence spikes_with_given_chains() {
    return simulate_sym26({.length = 30s, .seed = 1}).spikes;
}

std::vector<episode> what_was_found(const episode_result& found) {
    std::vector<episode> out;
    for (const counted_episode& one : found.table.episodes) out.push_back(one.what);
    return out;
}

// The same counts and expectations; the corrections are over other families.
TEST(GivenEpisodes, HaveTheCountsOfTheSearchThatFoundThem) {
    const spike_sequence spikes = spikes_with_given_chains();
    episode_options options{.mining = {.delays = default_delays(), .max_size = 3}};
    options.time.t_stop = 20s;
    const episode_result found = find_episodes(spikes, options);
    const auto given = what_was_found(found);
    ASSERT_GT(given.size(), 10U);

    const episode_result counted =
        count_and_test_episodes(spikes, given, options_for_given(options));

    ASSERT_EQ(counted.table.episodes.size(), given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
        EXPECT_EQ(counted.table.episodes[i].what, given[i]);
        EXPECT_EQ(counted.table.episodes[i].count, found.table.episodes[i].count);
    }
    EXPECT_FALSE(counted.pairs);
    ASSERT_TRUE(counted.chosen);
}

TEST(GivenEpisodes, AreNotSearchedByAnyOption) {
    given_episode_options options;
    const option_list list = describe(options);
    episode_mining_options mining;
    for (const option& one : describe(mining))
        EXPECT_EQ(list.has(one.name), one.name == "ties" || one.name == "strategy" ||
                                          one.name == "compaction" || one.name == "split")
            << one.name;
    for (const char* const name : {"t_start", "epochs", "alpha", "surrogates", "threads", "device"})
        EXPECT_TRUE(list.has(name)) << name;
}

TEST(GivenEpisodes, AreWarnedOfByTheirOwnDelays) {
    const spike_sequence spikes = spikes_with_given_chains();
    const auto warns_of_long_delays = [&](const delay_interval& delay) {
        const episode one{{unit_id{0}, unit_id{1}}, {delay}};
        const auto warnings = count_and_test_episodes(spikes, {&one, 1}).warnings;
        return std::ranges::any_of(warnings, [](const std::string& text) {
            return text.find("longest delay") != std::string::npos;
        });
    };
    EXPECT_TRUE(warns_of_long_delays({1s, 2s}));
    EXPECT_FALSE(warns_of_long_delays({1ms, 4ms}));
}

TEST(GivenEpisodes, AreRefusedWithOptionsOutOfRange) {
    const spike_sequence spikes = spikes_with_given_chains();
    const episode one{{unit_id{0}, unit_id{1}}, {{1ms, 4ms}}};
    EXPECT_THROW(count_and_test_episodes(spikes, {&one, 1}, {.significance = {.alpha = 0}}),
                 invalid_argument);
    EXPECT_THROW(count_and_test_episodes(spikes, {&one, 1},
                                         {.surrogates = {.surrogates = 5, .dither = 0ms}}),
                 invalid_argument);
}

}  // namespace
}  // namespace spikeweave
