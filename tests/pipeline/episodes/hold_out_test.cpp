#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// The blocks i for which a multiple of 1 lies in (share i, share (i + 1)].
std::pair<std::vector<time_span>, std::vector<time_span>> blocks(duration length, duration block,
                                                                 std::int64_t one_in) {
    std::pair<std::vector<time_span>, std::vector<time_span>> out;
    for (std::int64_t i = 0; i * block < length; ++i) {
        const duration end = (i + 1) * block;
        const time_span one{i * block, end < length ? end : length + duration(1us)};
        ((i + 1) % one_in == 0 ? out.second : out.first).push_back(one);
    }
    return out;
}

TEST(HoldOut, TestsWhatTheRestSuggestsInWhatItDidNotSee) {
    const spike_sequence spikes = simulate_sym26({.length = 60s, .seed = 2}).spikes;
    for (const std::int64_t one_in : {2, 4}) {
        const episode_options options{.hold_out = 1.0 / static_cast<double>(one_in),
                                      .hold_out_block = 3s};
        const auto [searched, held_out] = blocks(spikes.span().end, 3s, one_in);

        const episode_result found = find_episodes(spikes, options);

        const episode_result search = find_episodes(within_epochs(spikes, searched));
        std::vector<episode> chosen;
        std::size_t significant = 0;
        for (std::size_t i = 0; i < search.assessed.size(); ++i)
            if (search.assessed[i].p < 0.01 && search.table.episodes[i].what.size() > 1) {
                chosen.push_back(search.table.episodes[i].what);
                significant += search.assessed[i].q < 0.01 ? 1 : 0;
            }
        const episode_result test =
            count_and_test_episodes(within_epochs(spikes, held_out), chosen);
        ASSERT_GT(chosen.size(), 10U);
        // Edges of the circuit come behind what the search suggests.
        ASSERT_GE(found.table.episodes.size(), test.table.episodes.size());
        EXPECT_TRUE(std::equal(test.table.episodes.begin(), test.table.episodes.end(),
                               found.table.episodes.begin()));
        ASSERT_TRUE(found.searched);
        EXPECT_EQ(found.searched->tests.size(), found.table.episodes.size());
        EXPECT_EQ(found.searched->counts.size(), found.table.episodes.size());
        ASSERT_TRUE(found.chosen);
        EXPECT_EQ(*found.chosen, within_epochs(spikes, held_out));
        for (std::size_t i = chosen.size(); i < found.searched->tests.size(); ++i)
            significant += found.searched->tests[i].q < 0.01 ? 1 : 0;
        EXPECT_EQ(found.searched->significant, significant);
        EXPECT_EQ(found.searched->observed, within_epochs(spikes, searched).observed_time());
        EXPECT_GT(found.searched->replicated, 0U);
        EXPECT_LE(found.searched->replicated, significant);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            EXPECT_EQ(found.assessed[i].p, test.assessed[i].p);
            EXPECT_EQ(found.assessed[i].q, test.assessed[i].q);
        }
        // The circuit is of the pairs that the search suggests, with their windows.
        std::vector<pair_test> suggested;
        for (const pair_test& one : search.pairs->pairs)
            if (one.p < 0.01) suggested.push_back(one);
        std::set<std::pair<unit_id, unit_id>> edges;
        for (const pair_test& one :
             test_suggested_pairs(within_epochs(spikes, held_out), suggested).pairs)
            if (one.q < 0.01) edges.emplace(one.from, one.to);
        EXPECT_EQ(found.pairs->tested, suggested.size());
        EXPECT_EQ(found.circuit.edges.size(), edges.size());
        EXPECT_EQ(found.options.hold_out, options.hold_out);
        EXPECT_EQ(found.options.mining.min_count, search.table.threshold);
    }
}

TEST(HoldOut, LeavesEpochsWhole) {
    const spike_sequence spikes = simulate_sym26({.length = 60s, .seed = 2}).spikes;
    const episode_result found = find_episodes(
        spikes, {.time = {.trial_length = 700ms, .trial_separation = 300ms}, .hold_out = 0.5});
    ASSERT_EQ(found.chosen->epochs().size(), 30U);
    for (std::size_t i = 0; i < 30; ++i)
        EXPECT_EQ(found.chosen->epochs()[i].begin, (2 * static_cast<std::int64_t>(i) + 1) * 1s);
}

TEST(HoldOut, TestsWithSurrogatesIfThereAreAny) {
    const spike_sequence spikes = simulate_sym26({.length = 60s, .seed = 2}).spikes;
    const episode_result found =
        find_episodes(spikes, {.surrogates = {.surrogates = 200, .seed = 1}, .hold_out = 0.5});
    ASSERT_EQ(found.surrogates.size(), found.table.episodes.size());
    EXPECT_EQ(found.options.surrogates.surrogates, 200U);
    EXPECT_GT(found.searched->replicated, 0U);
}

TEST(HoldOut, ShiftsTheTrialsThatAreHeldOut) {
    const spike_sequence spikes = simulate_sym26({.length = 20s, .seed = 2}).spikes;
    episode_options options{
        .time = {.trial_length = 1s},
        .mining = {.delays = default_delays(), .max_size = 2},
        .surrogates = {.surrogates = 100, .method = surrogate_method::trial_shifting},
        .hold_out = 0.5};
    const episode_result found = find_episodes(spikes, options);
    EXPECT_GT(found.searched->replicated, 0U);
    EXPECT_EQ(found.surrogates.size(), found.table.episodes.size());
    options.time = {};  // blocks are no trials
    EXPECT_THROW(find_episodes(spikes, options), invalid_argument);
    options.surrogates.method = surrogate_method::bin_shuffling;
    EXPECT_THROW(find_episodes(spikes, options), invalid_argument);
}

TEST(HoldOut, RefusesWhatCannotBeDivided) {
    const spike_sequence spikes = simulate_sym26({.length = 5s, .seed = 2}).spikes;
    EXPECT_THROW(find_episodes(spikes, {.hold_out = 0.5}), invalid_argument);  // one block
    EXPECT_THROW(find_episodes(spikes, {.hold_out = 1}), invalid_argument);
    EXPECT_THROW(find_episodes(spikes, {.hold_out = -0.5}), invalid_argument);
    EXPECT_THROW(find_episodes(spikes, {.hold_out = 0.5, .hold_out_block = 0s}), invalid_argument);
    EXPECT_THROW(count_part(spikes, {.surrogates = {.surrogates = 9}, .hold_out = 0.5}, {1, 3}),
                 invalid_argument);
}

}  // namespace
}  // namespace spikeweave
