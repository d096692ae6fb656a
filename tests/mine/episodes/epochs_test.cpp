#include "spikeweave/spikes/epochs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "support/brute_force.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/strategy_cases.hpp"

namespace spikeweave {
namespace {

// Epochs that touch, have gaps, or begin before the first spike.
std::vector<time_span> random_epochs(random_streams& draw, const spike_sequence& spikes) {
    std::vector<time_span> epochs;
    duration at = spikes.span().begin - duration{static_cast<std::int64_t>(draw.below(3))};
    while (at <= spikes.span().end) {
        const duration end = at + duration{1 + static_cast<std::int64_t>(draw.below(12))};
        epochs.push_back({at, end});
        at = end + duration{static_cast<std::int64_t>(draw.below(2) == 0 ? 0 : draw.below(6))};
    }
    return epochs;
}

// An epoch as a recording of its own.
spike_sequence alone(const spike_sequence& spikes, const time_span& epoch) {
    return within_span(spikes, {epoch.begin, epoch.end - duration{1}});
}

TEST(EpisodesInEpochs, AreThoseOfEachEpochByItself) {
    random_streams draw(20);
    std::uint64_t positive = 0;
    std::uint64_t cut = 0;
    for (std::size_t i = 0; i < property_cases(5'000); ++i) {
        const auto units = static_cast<std::uint32_t>(1 + draw.below(3));
        const spike_sequence recording = draw.spikes(24, units);
        const std::vector<time_span> epochs = random_epochs(draw, recording);
        const spike_sequence spikes = within_epochs(recording, epochs);
        const episode what = draw.episode(1 + draw.below(4), units);
        if (!std::all_of(what.units.begin(), what.units.end(),
                         [&](unit_id u) { return to_index(u) < recording.unit_count(); }))
            continue;
        for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
            std::uint64_t expected = 0;
            std::vector<std::vector<std::int64_t>> times;
            for (const time_span& epoch : epochs) {
                const spike_sequence one = alone(recording, epoch);
                expected += brute_force(one, what, ties).count();
                std::ranges::copy(find_occurrences(one, what, ties), std::back_inserter(times));
            }
            for (const strategy_case& how : strategy_cases()) {
                const auto counted = count_episodes(
                    spikes, {&what, 1}, {.ties = ties, .strategy = how.strategy}, how.run(1));
                ASSERT_EQ(counted.counts[0], expected) << label(how) << " case " << i;
            }
            ASSERT_EQ(find_occurrences(spikes, what, ties), times) << "case " << i;
            positive += expected > 0 ? 1 : 0;
            cut += expected < brute_force(recording, what, ties).count() ? 1 : 0;
        }
    }
    // The cases must not be trivial.
    EXPECT_GT(positive, property_cases(5'000) / 8);
    EXPECT_GT(cut, property_cases(5'000) / 20);
}

TEST(EpisodesInEpochs, AreMinedAsTheyAreCounted) {
    random_streams draw(21);
    const episode_mining_options options{
        .delays = {{duration{0}, duration{3}}, {duration{3}, duration{8}}}, .min_count = 2};
    std::size_t episodes = 0;
    for (std::size_t i = 0; i < property_cases(500); ++i) {
        const spike_sequence recording = draw.spikes(60, 3);
        const std::vector<time_span> epochs = random_epochs(draw, recording);
        std::map<episode, std::uint64_t> expected;
        episode_mining_options every = options;
        every.min_count = 1;
        for (const time_span& epoch : epochs)
            for (const auto& [what, count] : mine_episodes(alone(recording, epoch), every).episodes)
                expected[what] += count;
        std::erase_if(expected, [](const auto& one) { return one.second < 2; });

        const episode_table table = mine_episodes(within_epochs(recording, epochs), options);

        std::map<episode, std::uint64_t> found;
        for (const auto& [what, count] : table.episodes) found[what] = count;
        ASSERT_EQ(found, expected) << "case " << i;
        episodes += found.size();
    }
    EXPECT_GT(episodes, property_cases(500));
}

TEST(EpisodesInEpochs, HaveARateInTheTimeOfTheEpochs) {
    const spike_sequence recording({0, 900'000, 5'000'000}, {unit_id{0}, unit_id{0}, unit_id{0}},
                                   {"a"}, {duration{0}, duration{10'000'000}});
    const auto part = within_epochs(
        recording, std::vector<time_span>{{duration{0}, duration{2'000'000}},
                                          {duration{4'000'000}, duration{7'000'000}}});

    EXPECT_EQ(resolve_threshold(part, {.delays = default_delays(), .min_rate = 2.0}), 10U);
    EXPECT_EQ(resolve_threshold(recording, {.delays = default_delays(), .min_rate = 2.0}), 10U);
}

}  // namespace
}  // namespace spikeweave
