#include "spikeweave/mine/episodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stop_token>
#include <string_view>

#include "spikeweave/core/error.hpp"
#include "support/brute_force.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/strategy_cases.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Parses "A1 A2 B5": units by letter, times in microseconds, ties in the order given.
spike_sequence spikes_of(std::string_view text) {
    spike_sequence_builder builder;
    while (!text.empty()) {
        const auto space = std::min(text.find(' '), text.size());
        builder.append(std::stoll(std::string(text.substr(1, space - 1))),
                       builder.unit(text.substr(0, 1)));
        text.remove_prefix(std::min(space + 1, text.size()));
    }
    return builder.finish();
}

episode chain(const spike_sequence& spikes, std::string_view units,
              std::vector<delay_interval> delays) {
    episode what{{}, std::move(delays)};
    for (const char c : units) what.units.push_back(spikes.unit(std::string(1, c)));
    return what;
}

delay_interval us(std::int64_t low, std::int64_t high) {
    return {duration{low}, duration{high}};
}

class CountEpisodes : public ::testing::TestWithParam<strategy_case> {
protected:
    std::uint64_t count(const spike_sequence& spikes, const episode& what,
                        tie_rule ties = tie_rule::time) {
        const auto result =
            count_episodes(spikes, std::vector{what},
                           {.ties = ties, .strategy = GetParam().strategy}, GetParam().run(1));
        EXPECT_EQ(result.ran_on, GetParam().strategy);
        EXPECT_EQ(result.ran_on_devices, GetParam().devices);
        return result.counts[0];
    }
};

TEST_P(CountEpisodes, CountsTheWorkedExample) {
    const auto spikes = spikes_of("A1 A2 B5 B8 A10 A13 C15 B18 C20");
    EXPECT_EQ(count(spikes, chain(spikes, "ABC", {us(5, 10), us(10, 15)})), 1U);
    EXPECT_EQ(count(spikes, chain(spikes, "AB", {us(0, 100)})), 2U);
    EXPECT_EQ(count(spikes, chain(spikes, "A", {})), 4U);
}

TEST_P(CountEpisodes, LetsNoEventEndOneOccurrenceAndStartTheNext) {
    const auto spikes = spikes_of("A1 A2 A3");
    EXPECT_EQ(count(spikes, chain(spikes, "AA", {us(0, 10)})), 1U);
}

TEST_P(CountEpisodes, TellsTheTwoTieRulesApart) {
    const auto spikes = spikes_of("A1 B2 A2 B3");
    const auto what = chain(spikes, "AB", {us(0, 40)});
    EXPECT_EQ(count(spikes, what, tie_rule::time), 1U);
    EXPECT_EQ(count(spikes, what, tie_rule::order), 2U);
}

TEST_P(CountEpisodes, FindsAStartHiddenByASimultaneousOne) {
    const auto spikes = spikes_of("B4 B7 C7");
    EXPECT_EQ(count(spikes, chain(spikes, "BC", {us(1, 3)})), 1U);
}

TEST_P(CountEpisodes, CountsWhereThePublishedMergeFails) {
    const auto spikes = spikes_of("A18 A22 B31 A32 B41 B44");
    EXPECT_EQ(count(spikes, chain(spikes, "AB", {us(10, 20)})), 2U);
    const auto repeated = spikes_of("X1 X2 X3 X5");
    EXPECT_EQ(count(repeated, chain(repeated, "XX", {us(0, 2)})), 2U);
}

TEST_P(CountEpisodes, OffersAnEventToLowerNodesAfterAHigherOneTookIt) {
    const auto spikes = spikes_of("X2 X7 X13 X14");
    EXPECT_EQ(count(spikes, chain(spikes, "XXX", {us(0, 10), us(0, 5)})), 1U);
}

TEST_P(CountEpisodes, CountsAtAndBeforeTimeZero) {
    const auto spikes = spikes_of("A0 B1 A3 B4");
    EXPECT_EQ(count(spikes, chain(spikes, "AB", {us(0, 1)})), 2U);
    const auto negative = spikes_of("A-9 B-8 A-3 B0");
    EXPECT_EQ(count(negative, chain(negative, "AB", {us(0, 3)})), 2U);
}

TEST_P(CountEpisodes, LeavesOutADelayAtTheLowerBoundAndTakesOneAtTheUpper) {
    const auto spikes = spikes_of("A0 B5 A100 B110");
    EXPECT_EQ(count(spikes, chain(spikes, "AB", {us(5, 10)})), 1U);
    EXPECT_EQ(count(spikes, chain(spikes, "AB", {us(4, 9)})), 1U);
    EXPECT_EQ(count(spikes, chain(spikes, "AB", {us(5, 9)})), 0U);
}

TEST_P(CountEpisodes, IsZeroWithoutSpikes) {
    const spike_sequence none({}, {}, {"A", "B"}, {});
    EXPECT_EQ(count(none, {{unit_id{0}, unit_id{1}}, {us(0, 5)}}), 0U);
    EXPECT_EQ(count(none, {{unit_id{0}}, {}}), 0U);
}

// The published implementation holds 50 stamps per node and ends the program at the 51st.
TEST_P(CountEpisodes, HasNoCapOnABurstWithinOneInterval) {
    std::string text;
    const episode_strategy strategy = GetParam().strategy;
    const bool tries_all =
        strategy == episode_strategy::reference || strategy == episode_strategy::occurrences;
    const int burst = tries_all ? 200 : 20'000;
    for (int i = 0; i < burst; ++i) text += "A" + std::to_string(i) + " ";
    const auto spikes = spikes_of(text + "B30000 A40000 B60000");
    EXPECT_EQ(count(spikes, chain(spikes, "AB", {us(0, 100'000)})), 2U);
}

INSTANTIATE_TEST_SUITE_P(Every, CountEpisodes, ::testing::ValuesIn(strategy_cases()),
                         [](const auto& param) { return label(param.param); });

TEST(BruteForce, SeesBothOccurrencesOfTheWorkedExample) {
    const auto spikes = spikes_of("A1 A2 B5 B8 A10 A13 C15 B18 C20");
    EXPECT_EQ(brute_force(spikes, chain(spikes, "ABC", {us(5, 10), us(10, 15)}), tie_rule::time)
                  .occurrence_count(),
              2U);
    EXPECT_EQ(
        brute_force(spikes, chain(spikes, "AB", {us(0, 100)}), tie_rule::time).occurrence_count(),
        8U);
}

TEST(CountEpisodesErrors, NameTheEpisode) {
    const auto spikes = spikes_of("A1 B2");
    const auto count = [&](episode what) {
        return count_episodes(spikes, std::vector{std::move(what)});
    };
    EXPECT_THROW(count({}), invalid_argument);
    EXPECT_THROW(count({{unit_id{0}, unit_id{1}}, {}}), invalid_argument);
    EXPECT_THROW(count({{unit_id{0}, unit_id{7}}, {us(0, 1)}}), invalid_argument);
    EXPECT_THROW(count({{unit_id{0}, unit_id{1}}, {us(5, 5)}}), invalid_argument);
    EXPECT_THROW(count({{unit_id{0}, unit_id{1}}, {us(-1, 5)}}), invalid_argument);
}

TEST(CountEpisodes, TakesEpisodesOfDifferentSizesInOneCall) {
    const auto spikes = spikes_of("A1 B2 C3 A10 B11");
    const std::vector<episode> several{chain(spikes, "ABC", {us(0, 2), us(0, 2)}),
                                       chain(spikes, "A", {}), chain(spikes, "AB", {us(0, 2)}),
                                       chain(spikes, "BC", {us(0, 1)})};
    EXPECT_EQ(count_episodes(spikes, several).counts, (std::vector<std::uint64_t>{1, 2, 2, 1}));
}

TEST(ParseDelayInterval, BorrowsTheUnitAndRefusesNonsense) {
    EXPECT_EQ(parse_delay_interval("4-6ms"), (delay_interval{4ms, 6ms}));
    EXPECT_EQ(parse_delay_interval("500us-1.5ms"), (delay_interval{500us, 1500us}));
    EXPECT_EQ(parse_delay_interval("0-5ms"), (delay_interval{0ms, 5ms}));
    EXPECT_EQ(format_delay_interval({500us, 6ms}), "(0.5,6] ms");
    for (const char* text :
         {"", "5", "5ms", "5-5ms", "6-4ms", "-4-6ms", "4-6", "4ms-", "a-b", "4-6ms-8ms"})
        EXPECT_THROW(parse_delay_interval(text), invalid_argument) << text;
}

TEST(ResolveThreshold, RoundsUpExactly) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "A" + std::to_string(i * 1'000'000) + " ";
    const auto spikes = spikes_of(text);
    const auto resolve = [&](episode_mining_options options) {
        options.delays = {us(0, 5)};
        return resolve_threshold(spikes, options);
    };
    EXPECT_EQ(resolve({.min_count = 7}), 7U);
    EXPECT_EQ(resolve({.min_fraction = 0.1}), 3U);
    EXPECT_EQ(resolve({.min_fraction = 0.11}), 4U);
    EXPECT_EQ(resolve({.min_rate = 0.1}), 3U);  // 29 s
    EXPECT_EQ(resolve({}), 10U);
    EXPECT_THROW(resolve({.min_count = 0}), invalid_argument);
    EXPECT_THROW(resolve({.min_fraction = -0.1}), invalid_argument);
    EXPECT_THROW(resolve({.min_fraction = 1.5}), invalid_argument);
    EXPECT_THROW(resolve({.min_rate = 0}), invalid_argument);
    EXPECT_THROW(resolve({.min_rate = 1e300}), invalid_argument);
    EXPECT_THROW(resolve({.min_count = 5, .min_rate = 1}), invalid_argument);
}

// 40 units fire one after another, 400 times, so every ordered pair is frequent in one of ten
// intervals.
TEST(ResolveThreshold, KeepsTheFrequentPairsToThirtyTwoAUnit) {
    spike_sequence_builder builder;
    for (int burst = 0; burst < 400; ++burst) {
        for (int u = 0; u < 40; ++u) {
            const int offset = (u * 7 + burst * (u % 5)) % 40;
            builder.append(burst * 1000 + offset, builder.unit(std::to_string(u)));
        }
    }
    const auto spikes = builder.finish();
    episode_mining_options options{.max_size = 2};
    for (int i = 0; i < 10; ++i) options.delays.push_back(us(4 * i, 4 * i + 4));

    const auto table = mine_episodes(spikes, options);

    EXPECT_LE(table.levels[1].frequent, 32U * 40);
    EXPECT_EQ(table.threshold, resolve_threshold(spikes, options));
    options.min_count = table.threshold - 1;
    EXPECT_GT(mine_episodes(spikes, options).levels[1].frequent, 32U * 40);
    options.min_count = 20;
    EXPECT_GT(mine_episodes(spikes, options).levels[1].frequent, 32U * 40)
        << "the case is too easy";
}

TEST(MineEpisodes, ReportsEveryLevel) {
    const auto spikes = spikes_of("A1 B3 C5 A21 B23 C25 A41 B43 C45 D50");
    const auto table = mine_episodes(spikes, {.delays = {us(1, 2)}, .min_count = 3});

    ASSERT_EQ(table.levels.size(), 4U);
    EXPECT_EQ(table.levels[0].candidates, 4U);
    EXPECT_EQ(table.levels[0].frequent, 3U);
    EXPECT_EQ(table.levels[1].candidates, 6U);
    EXPECT_EQ(table.levels[1].frequent, 2U);
    EXPECT_EQ(table.levels[2].candidates, 1U);
    EXPECT_EQ(table.levels[2].frequent, 1U);
    EXPECT_EQ(table.levels[3].candidates, 0U);
    EXPECT_EQ(table.episodes.back(),
              (counted_episode{chain(spikes, "ABC", {us(1, 2), us(1, 2)}), 3}));
    EXPECT_EQ(table.ran_on, episode_strategy::latest_start);
}

TEST(MineEpisodes, RefusesImpossibleOptionsAndKeepsToItsMemory) {
    const auto spikes = spikes_of("A1 B3");
    EXPECT_THROW(mine_episodes(spikes, {}), invalid_argument);
    EXPECT_THROW(mine_episodes(spikes, {.delays = {us(3, 3)}}), invalid_argument);
    EXPECT_THROW(
        mine_episodes(spikes, {.delays = {us(0, 3)}, .min_count = 1, .max_memory_bytes = 10}),
        invalid_argument);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(mine_episodes(spikes, {.delays = {us(0, 3)}, .min_count = 1},
                               {.threads = 1, .on_progress = {}, .stop = stop.get_token()}),
                 cancelled);
}

// A search that may end early has the levels that were finished, as one that was not to go on.
TEST(MineEpisodesProperty, EndsEarlyWithTheLevelsThatAreComplete) {
    random_streams draw(20261124);
    std::set<std::size_t> sizes;
    for (std::size_t i = 0; i < property_cases(200); ++i) {
        const spike_sequence spikes = bursting_stream(draw.below(1000), 5, 600, 20'000);
        const episode_mining_options options{.delays = {us(0, 30), us(30, 60)},
                                             .min_count = 4 + draw.below(20),
                                             .strategy = draw.below(2) == 0
                                                             ? episode_strategy::latest_start
                                                             : episode_strategy::state_machine};
        const episode_table whole = mine_episodes(spikes, options, {.threads = 1});
        std::stop_source enough;
        std::uint64_t steps = i % 6 == 0 ? 0 : 1 + draw.below(std::uint64_t{1} << draw.below(12));
        if (steps == 0) enough.request_stop();
        const execution run{.threads = 1 + static_cast<int>(draw.below(2)),
                            .on_progress = [&](const progress_report&) {
                                if (steps > 0 && --steps == 0) enough.request_stop();
                            }};

        const episode_table table = mine_episodes(spikes, options, run, enough.get_token());

        if (!table.complete_to_size) {
            ASSERT_EQ(table.episodes, whole.episodes);
            continue;
        }
        const std::size_t size = *table.complete_to_size;
        sizes.insert(size);
        ASSERT_EQ(table.levels.size(), size);
        std::vector<counted_episode> expected = whole.episodes;
        std::erase_if(expected, [&](const auto& one) { return one.what.size() > size; });
        ASSERT_EQ(table.episodes, expected) << "case " << i << ", size " << size;
        episode_mining_options so_far = options;
        so_far.max_size = std::max<std::size_t>(size, 1);
        if (size > 0) {
            ASSERT_EQ(mine_episodes(spikes, so_far, {.threads = 1}).episodes, expected);
        }
    }
    EXPECT_GE(sizes.size(), std::min<std::size_t>(3, property_cases(200) / 6))
        << "the searches ended at few sizes";
    EXPECT_EQ(sizes.count(0), 1U);
}

TEST(MineEpisodes, EndsEarlyForMemoryIfItMayAndElseFails) {
    const spike_sequence spikes = bursting_stream(1, 5, 4'000, 20'000);
    const episode_mining_options options{.delays = {us(0, 60)},
                                         .min_count = 40,
                                         .strategy = episode_strategy::latest_start,
                                         .max_memory_bytes = 300'000};
    std::stop_source stop;

    const episode_table table = mine_episodes(spikes, options, {.threads = 1}, stop.get_token());

    ASSERT_TRUE(table.complete_to_size);
    EXPECT_GE(*table.complete_to_size, 1U);
    EXPECT_EQ(table.levels.size(), *table.complete_to_size);
    EXPECT_THROW(mine_episodes(spikes, options, {.threads = 1}), invalid_argument);
    stop.request_stop();
    EXPECT_THROW(mine_episodes(spikes, options, {.stop = stop.get_token()}, stop.get_token()),
                 cancelled)
        << "what is stopped has no result";
}

// Tables of steps take a quarter of the memory at most; without one, a step is made when it is
// needed, or walked.
TEST(MineEpisodes, FindsTheSameInTheLeastMemoryThatIsEnough) {
    for (const std::uint64_t min_count : {20, 40, 60}) {
        const spike_sequence spikes = bursting_stream(min_count, 12, 6'000, 20'000);
        episode_mining_options options{.delays = {us(0, 40), us(40, 80)},
                                       .min_count = min_count,
                                       .max_size = 3,
                                       .strategy = episode_strategy::latest_start};
        const episode_table unbounded = mine_episodes(spikes, options, {.threads = 2});
        ASSERT_GE(unbounded.levels.size(), 3U);
        std::optional<episode_table> bounded;
        for (std::uint64_t most = 100'000; !bounded; most += most / 16) {
            options.max_memory_bytes = most;
            try {
                bounded = mine_episodes(spikes, options, {.threads = 2});
            } catch (const invalid_argument&) {
            }
        }
        EXPECT_EQ(bounded->episodes, unbounded.episodes);
    }
}

TEST(FindOccurrences, GivesTheTimesOfWhatIsCounted) {
    const auto spikes = spikes_of("A1 A2 B5 B8 A10 A13 C15 B18 C20");
    EXPECT_EQ(find_occurrences(spikes, chain(spikes, "ABC", {us(5, 10), us(10, 15)})),
              (std::vector<std::vector<std::int64_t>>{{2, 8, 20}}));
    EXPECT_EQ(find_occurrences(spikes, chain(spikes, "AB", {us(0, 100)})),
              (std::vector<std::vector<std::int64_t>>{{2, 5}, {13, 18}}));
}

}  // namespace
}  // namespace spikeweave
