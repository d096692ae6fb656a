#include <gtest/gtest.h>

#include <vector>

#include "mine/episodes/devices/plan.hpp"
#include "published/state_machine/stamp_rings.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"

// Tests, on every machine, what the host plans for devices and what it refuses.
namespace spikeweave {
namespace {

using episodes::plan_rings;
using episodes::ring_chunk;

TEST(PlanThreads, SpreadsFewThreadsOverManyBlocks) {
    EXPECT_EQ(episodes::threads_for_even_spread(1, 132), 32);
    EXPECT_EQ(episodes::threads_for_even_spread(43'656, 132), 32);
    EXPECT_EQ(episodes::threads_for_even_spread(132 * 16 * 32, 132), 32);
    EXPECT_EQ(episodes::threads_for_even_spread(132 * 16 * 32 + 1, 132), 64);
    EXPECT_EQ(episodes::threads_for_even_spread(1ULL << 30, 132), 256);
}

TEST(PlanSweeps, CutsFewSweepsIntoManyPiecesThatAreNotShort) {
    const device::device_limits limits{.multiprocessors = 132};
    EXPECT_EQ(episodes::pieces_of_sweeps(4'000, 10'000, limits), 17U);
    EXPECT_EQ(episodes::pieces_of_sweeps(1'000, 10'000, limits), 39U);
    EXPECT_EQ(episodes::pieces_of_sweeps(1'000'000, 10'000, limits), 1U);
    EXPECT_EQ(episodes::pieces_of_sweeps(4'000, 100, limits), 1U);
    EXPECT_EQ(episodes::pieces_of_sweeps(0, 0, limits), 1U);
    EXPECT_EQ(episodes::pieces_of_sweeps(1, UINT32_MAX, limits), 65'535U);
}

// Expects every slot of every ring to belong to one node of one candidate and to be within the
// space.
void expect_apart(const ring_chunk& chunk, std::size_t nodes,
                  const std::vector<std::uint32_t>& capacities) {
    std::vector<bool> taken(chunk.slots);
    for (std::size_t c = 0; c < chunk.candidates; ++c) {
        for (std::size_t k = 0; k < nodes; ++k) {
            const episodes::ring& one = chunk.rings[c / chunk.lanes * nodes + k];
            EXPECT_GE(one.capacity, capacities[(chunk.first_candidate + c) * nodes + k]);
            for (std::uint64_t s = 0; s < one.capacity; ++s) {
                const std::uint64_t slot = one.begin + s * chunk.lanes + c % chunk.lanes;
                ASSERT_LT(slot, chunk.slots);
                ASSERT_FALSE(taken[slot]);
                taken[slot] = true;
            }
        }
    }
}

void expect_a_plan(const std::vector<std::uint32_t>& capacities, std::size_t nodes,
                   std::uint64_t most_slots) {
    std::size_t next = 0;
    for (const ring_chunk& chunk : plan_rings(capacities, nodes, most_slots)) {
        EXPECT_EQ(chunk.first_candidate, next);
        EXPECT_TRUE(chunk.slots <= most_slots || chunk.candidates == 1);
        expect_apart(chunk, nodes, capacities);
        next += chunk.candidates;
    }
    EXPECT_EQ(next, capacities.size() / nodes);
}

TEST(PlanRings, GivesEveryListItsOwnPlace) {
    for (const std::size_t candidates : {1U, 2U, 31U, 32U, 33U, 64U, 100U}) {
        for (const std::size_t nodes : {1U, 3U}) {
            std::vector<std::uint32_t> capacities(candidates * nodes);
            for (std::size_t i = 0; i < capacities.size(); ++i)
                capacities[i] = static_cast<std::uint32_t>(i * 7 % 11);
            for (const std::uint64_t most : {1U, 40U, 700U, 2'000U, 1'000'000U})
                expect_a_plan(capacities, nodes, most);
        }
    }
}

TEST(PlanRings, TakesOneChunkWhenAllFits) {
    const auto chunks = plan_rings(std::vector<std::uint32_t>(100, 5), 1, 1'000'000);

    ASSERT_EQ(chunks.size(), 1U);
    EXPECT_EQ(chunks[0].lanes, 32U);
    EXPECT_EQ(chunks[0].slots, 4U * 32 * 5);
}

TEST(PlanRings, DoesNotLetOneBurstingUnitMultiply) {
    std::vector<std::uint32_t> capacities(64, 3);
    capacities[40] = 10'000;

    const auto chunks = plan_rings(capacities, 1, 20'000);

    std::uint64_t most = 0;
    for (const ring_chunk& chunk : chunks) most = std::max(most, chunk.slots);
    EXPECT_LE(most, 20'000U);
    expect_a_plan(capacities, 1, 20'000);
}

TEST(PlanRings, TakesNothingForNothing) {
    EXPECT_TRUE(plan_rings({}, 2, 100).empty());
}

class Refusals : public ::testing::Test {
protected:
    void expect_refused(episode_strategy strategy, const std::vector<int>& devices,
                        const std::string& says) {
        const std::vector<episode> what{{{unit_id{0}, unit_id{0}}, {{duration{0}, duration{5}}}}};
        const spike_sequence spikes({1, 2}, {unit_id{0}, unit_id{0}}, {"a"},
                                    {duration{0}, duration{3}});
        try {
            count_episodes(spikes, what, {.strategy = strategy}, {.devices = devices});
            FAIL() << "it was not refused";
        } catch (const invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
        EXPECT_THROW(
            mine_episodes(
                spikes,
                {.delays = {{duration{0}, duration{5}}}, .min_count = 1, .strategy = strategy},
                {.devices = devices}),
            invalid_argument);
    }
};

TEST_F(Refusals, AStrategyForGpusWithoutOne) {
    const std::string why = device_unavailable_reason();
    expect_refused(episode_strategy::thread_per_episode, {},
                   why.empty() ? "none was requested" : why);
}

TEST_F(Refusals, AStrategyForTheCpuWithAGpu) {
    expect_refused(episode_strategy::segments, {0}, "segments runs on the CPU only");
    expect_refused(episode_strategy::reference, {0}, "reference runs on the CPU only");
}

TEST(Devices, AreThereOrItIsSaidWhyNot) {
    EXPECT_EQ(devices().empty(), !device_unavailable_reason().empty());
}

TEST(Devices, ThatAreNotThereAreAnErrorThatNamesThem) {
    const spike_sequence spikes({1, 2}, {unit_id{0}, unit_id{0}}, {"a"},
                                {duration{0}, duration{3}});
    const std::vector<episode> what{{{unit_id{0}, unit_id{0}}, {{duration{0}, duration{5}}}}};
    try {
        count_episodes(spikes, what, {}, {.devices = {1'000}});
        FAIL() << "there is no such device";
    } catch (const device_error& error) {
        const std::string why = device_unavailable_reason();
        const std::string text = error.what();
        EXPECT_NE(text.find(why.empty() ? "1000" : why), std::string::npos) << text;
    }
}

TEST(Strategies, AreListedForDevicesOnlyByABuildForThem) {
    for (const auto strategy : available_episode_strategies(device_kind::cuda))
        EXPECT_EQ(value_named<episode_strategy>(to_string(strategy)), strategy);
    EXPECT_EQ(value_named<episode_strategy>("thread-per-episode"),
              episode_strategy::thread_per_episode);
}

}  // namespace
}  // namespace spikeweave
