#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "mine/episodes/devices/device_set.hpp"
#include "mine/episodes/latest_start/cuda/time_split.hpp"
#include "mine/episodes/latest_start/cuda/worker.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "support/random_streams.hpp"

// Tests what latest-start on devices does only in special cases: long runs of overlapping
// survivors, too little memory, division of the time.
namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Makes `units` random units on a grid of ten; unit 0 fires every ten microseconds if `regular`.
spike_sequence stream(std::uint64_t seed, std::uint32_t units, std::size_t spikes,
                      std::int64_t length, bool regular) {
    random_streams draw(seed);
    spike_sequence_builder builder;
    std::vector<unit_id> ids;
    for (std::uint32_t u = 0; u < units; ++u) ids.push_back(builder.unit(std::to_string(u)));
    for (std::size_t i = 0; i < spikes; ++i)
        builder.append(
            static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(length))) * 10,
            ids[draw.below(units)]);
    for (std::int64_t t = 0; regular && t < length; ++t) builder.append(t * 10, ids[0]);
    return builder.finish();
}

// Makes random chains over a few units.
std::vector<episode> walks(std::uint64_t seed, std::uint32_t units, std::size_t size,
                           std::size_t count, const std::vector<delay_interval>& steps) {
    random_streams draw(seed);
    std::vector<episode> all(count);
    for (episode& one : all) {
        for (std::size_t k = 0; k < size; ++k)
            one.units.push_back(unit_id{static_cast<std::uint32_t>(draw.below(units))});
        for (std::size_t k = 1; k < size; ++k)
            one.delays.push_back(steps[draw.below(steps.size())]);
    }
    return all;
}

void expect_the_cpus(const spike_sequence& spikes, const std::vector<episode>& what,
                     const std::vector<int>& devices, device_split split) {
    std::uint64_t sum = 0;
    for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
        const auto expected = count_episodes(spikes, what, {.ties = ties}).counts;
        EXPECT_EQ(count_episodes(spikes, what, {.ties = ties, .split = split}, {.devices = devices})
                      .counts,
                  expected)
            << to_string(ties);
        for (const std::uint64_t count : expected) sum += count;
    }
    EXPECT_GT(sum, 0U);
}

// Greedy choices that begin at different spikes of a regular train never meet; those of an
// irregular one do, but only after many spikes.
TEST(LatestStartOnDevices, CountsWhereSurvivorsOverlapInLongRuns) {
    for (const bool regular : {true, false}) {
        const spike_sequence spikes = stream(1, 3, 20'000, 10'000, regular);
        for (const std::int64_t reach : {20, 70, 400, 30'000}) {
            const std::vector<delay_interval> steps{{0us, duration{reach}},
                                                    {duration{reach / 2}, duration{reach}}};
            for (const std::size_t size : {2U, 3U})
                expect_the_cpus(spikes, walks(2, 3, size, 12, steps), {0}, device_split::automatic);
        }
    }
}

TEST(LatestStartOnDevices, CountsTheSameInLittleRoom) {
    const spike_sequence spikes = stream(3, 6, 30'000, 100'000, false);
    const std::vector<delay_interval> steps{{0us, 50us}, {50us, 100us}};
    const std::vector<episode> what = walks(4, 6, 4, 500, steps);
    const auto expected = count_episodes(spikes, what).counts;
    const std::vector<episodes::interval_us> intervals{{0, 50}, {50, 100}};
    const execution run{.devices = {0}};
    const episodes::counting_problem problem{spikes, intervals, tie_rule::time, run};
    const episodes::device_set devices(problem);
    episodes::candidate_set candidates{4};
    for (const episode& one : what) {
        std::vector<std::uint32_t> delays;
        for (const delay_interval& d : one.delays) delays.push_back(d == steps[0] ? 0 : 1);
        candidates.append(one.units, delays);
    }
    const episodes::episode_trie trie(candidates);
    for (const std::uint64_t capacity : {100ULL, 100'000ULL, 1'000'000ULL}) {
        std::vector<std::uint64_t> leaves(trie.levels.back().size());
        const device::scoped_device scope(0);
        episodes::latest_start_worker worker(devices.problems()[0], 0, capacity);
        worker.count_leaves(trie, 0, [&](std::size_t first, const episodes::known_lists& here) {
            for (std::size_t i = 0; i < here.counts.size(); ++i)
                leaves[first + i] = here.counts[i].count;
        });
        for (std::size_t i = 0; i < what.size(); ++i)
            EXPECT_EQ(leaves[trie.leaf_of[i]], expected[i]) << capacity << " bytes, episode " << i;
    }
}

TEST(LatestStartOnDevices, JoinsStretchesOfTime) {
    const std::vector<delay_interval> steps{{0us, 30us}, {20us, 200us}, {0us, 3000us}};
    for (const std::uint64_t seed : {5U, 6U, 7U}) {
        const spike_sequence spikes = stream(seed, 4, 3'000, 3'000, seed == 7);
        const std::vector<episode> what = walks(seed, 4, 3, 40, steps);
        for (const std::size_t stretches : {1U, 2U, 3U, 7U})
            expect_the_cpus(spikes, what, std::vector<int>(stretches, 0), device_split::time);
    }
}

// 2^32 microseconds are 71 minutes.
TEST(LatestStartOnDevices, CountsRecordingsOfDays) {
    random_streams draw(8);
    spike_sequence_builder builder;
    const std::array ids{builder.unit("0"), builder.unit("1"), builder.unit("2")};
    for (int i = 0; i < 30'000; ++i)
        builder.append(static_cast<std::int64_t>(draw.below(200'000)) * 1'000'000,
                       ids[draw.below(3)]);
    const spike_sequence spikes = builder.finish();
    const std::vector<delay_interval> steps{{0s, 5s}, {5s, 60s}};
    expect_the_cpus(spikes, walks(9, 3, 3, 30, steps), {0}, device_split::automatic);
    const episode_mining_options options{.delays = steps, .min_count = 500, .max_size = 3};
    const auto expected = mine_episodes(spikes, options);
    EXPECT_GT(expected.episodes.size(), 3U);
    EXPECT_EQ(mine_episodes(spikes, options, {.devices = {0, 0}}).episodes, expected.episodes);
    EXPECT_THROW(count_episodes(spikes, std::vector<episode>{{{ids[0], ids[1]}, {{0s, 7200s}}}}, {},
                                {.devices = {0}}),
                 invalid_argument);
}

TEST(LatestStartOnDevices, MinesTheSameEitherWayOfCountingPairs) {
    const spike_sequence spikes = stream(10, 40, 40'000, 400'000, false);
    for (const pair_method method : {pair_method::merge, pair_method::look_back}) {
        for (const std::vector<int>& devices : {std::vector{0}, std::vector{0, 0, 0}}) {
            episode_mining_options options{.delays = {{0us, 50us}, {50us, 100us}},
                                           .min_count = 12,
                                           .max_size = 4,
                                           .self_repeats = true,
                                           .pairs = method};
            const auto expected = mine_episodes(spikes, options);
            const auto table = mine_episodes(spikes, options, {.devices = devices});
            EXPECT_GT(expected.episodes.size(), 100U);
            EXPECT_EQ(table.episodes, expected.episodes);
            EXPECT_EQ(table.pairs_by, method);
        }
    }
}

// Long trains are swept in pieces, cut where spikes are far apart: almost everywhere with the short
// interval, nowhere with the long one, and in bursts between them.
TEST(LatestStartOnDevices, SweepsTrainsInPieces) {
    random_streams draw(12);
    spike_sequence_builder builder;
    const std::array ids{builder.unit("0"), builder.unit("1"), builder.unit("2")};
    std::int64_t time = 0;
    for (int i = 0; i < 30'000; ++i) {
        time += static_cast<std::int64_t>(draw.below(i % 40 == 0 ? 3'000 : 12));
        builder.append(time, ids[draw.below(3)]);
    }
    const spike_sequence spikes = builder.finish();
    for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
        const episode_mining_options options{
            .delays = {{0us, 3us}, {0us, 60us}, {20us, 150us}, {0us, 10'000us}},
            .min_count = 5,
            .max_size = 2,
            .self_repeats = true,
            .ties = ties,
            .pairs = pair_method::look_back};
        const auto expected = mine_episodes(spikes, options);
        EXPECT_EQ(expected.episodes.size(), 3U + 4 * 9);
        for (const std::vector<int>& devices : {std::vector{0}, std::vector{0, 0}})
            EXPECT_EQ(mine_episodes(spikes, options, {.devices = devices}).episodes,
                      expected.episodes);
    }
}

TEST(LatestStartOnDevices, RefusesStretchesForOtherStrategies) {
    const spike_sequence spikes = stream(11, 2, 100, 100, false);
    EXPECT_THROW(count_episodes(spikes, {},
                                {.strategy = episode_strategy::thread_per_episode,
                                 .split = device_split::time},
                                {.devices = {0}}),
                 invalid_argument);
}

}  // namespace
}  // namespace spikeweave
