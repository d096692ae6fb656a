#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "spikeweave/mine/episodes.hpp"
#include "support/brute_force.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/strategy_cases.hpp"

namespace spikeweave {
namespace {

execution one_thread() {
    return execution{.threads = 1};
}

// Compares every strategy in both tie modes with brute force, on the grid of the bounds.
TEST(EpisodeProperty, EveryStrategyFindsTheLargestSetOfDisjointOccurrences) {
    const std::size_t cases = property_cases(110'000);
    random_streams draw(20260101);
    std::uint64_t positive = 0;
    std::uint64_t tie_rules_differ = 0;
    for (std::size_t i = 0; i < cases; ++i) {
        const auto units = static_cast<std::uint32_t>(1 + draw.below(4));
        const spike_sequence spikes = draw.spikes(16, units);
        std::vector<episode> several;
        for (int k = 0; k < 3; ++k) {
            const episode what = draw.episode(1 + draw.below(5), units);
            if (std::all_of(what.units.begin(), what.units.end(),
                            [&](unit_id u) { return to_index(u) < spikes.unit_count(); }))
                several.push_back(what);
        }
        std::map<tie_rule, std::vector<std::uint64_t>> expected;
        for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
            for (const episode& what : several)
                expected[ties].push_back(brute_force(spikes, what, ties).count());
            for (const strategy_case& how : strategy_cases()) {
                const auto counted = count_episodes(
                    spikes, several, {.ties = ties, .strategy = how.strategy}, how.run(1));
                ASSERT_EQ(counted.ran_on, how.strategy);
                ASSERT_EQ(counted.ran_on_devices, how.devices);
                for (std::size_t k = 0; k < several.size(); ++k) {
                    ASSERT_EQ(counted.counts[k], expected[ties][k])
                        << label(how) << " ties=" << to_string(ties) << " case " << i << "\n"
                        << counterexample(spikes, several[k]);
                }
            }
        }
        for (std::size_t k = 0; k < several.size(); ++k) {
            positive += expected[tie_rule::time][k] > 0 ? 1 : 0;
            tie_rules_differ += expected[tie_rule::time][k] != expected[tie_rule::order][k] ? 1 : 0;
            const auto found = find_occurrences(spikes, several[k]);
            ASSERT_EQ(found.size(), expected[tie_rule::time][k])
                << counterexample(spikes, several[k]);
        }
    }
    // The cases must not be trivial.
    EXPECT_GT(positive, cases / 4);
    EXPECT_GT(tie_rules_differ, cases / 1000);
}

// Many pairs on few spikes are counted by looking back, few pairs in wide intervals by merging.
TEST(EpisodeProperty, PairsOfAListAreCountedAsByBruteForce) {
    random_streams draw(11);
    std::uint64_t positive = 0;
    for (std::size_t i = 0; i < property_cases(2'000); ++i) {
        const spike_sequence spikes = draw.spikes(16, 4);
        std::vector<episode> pairs;
        for (std::uint64_t k = 0; k < (i % 2 == 0 ? 40U : 1U); ++k)
            pairs.push_back(draw.episode(2, static_cast<std::uint32_t>(spikes.unit_count())));
        pairs.push_back(pairs.front());
        for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
            const auto counted = count_episodes(
                spikes, pairs, {.ties = ties, .strategy = episode_strategy::latest_start});
            for (std::size_t k = 0; k < pairs.size(); ++k) {
                ASSERT_EQ(counted.counts[k], brute_force(spikes, pairs[k], ties).count())
                    << counterexample(spikes, pairs[k]);
                positive += counted.counts[k] > 0 ? 1 : 0;
            }
        }
    }
    EXPECT_GT(positive, property_cases(2'000));
}

TEST(EpisodeProperty, FoundOccurrencesKeepTheDelaysAndDoNotOverlap) {
    random_streams draw(7);
    for (std::size_t i = 0; i < property_cases(20'000); ++i) {
        const spike_sequence spikes = draw.spikes(30, 3);
        const episode what =
            draw.episode(1 + draw.below(4), static_cast<std::uint32_t>(spikes.unit_count()));
        std::int64_t last_end = INT64_MIN;
        for (const auto& times : find_occurrences(spikes, what)) {
            ASSERT_GT(times.front(), last_end) << counterexample(spikes, what);
            last_end = times.back();
            for (std::size_t k = 0; k < times.size(); ++k) {
                const auto at =
                    std::lower_bound(spikes.times_us().begin(), spikes.times_us().end(), times[k]);
                bool there = false;
                for (auto t = at; t != spikes.times_us().end() && *t == times[k]; ++t)
                    there |=
                        spikes.units()[static_cast<std::size_t>(t - spikes.times_us().begin())] ==
                        what.units[k];
                ASSERT_TRUE(there);
                if (k == 0) continue;
                const duration delay{times[k] - times[k - 1]};
                ASSERT_TRUE(what.delays[k - 1].low < delay && delay <= what.delays[k - 1].high);
            }
        }
    }
}

// Below the threshold that it is given, two-pass may return any smaller number, but at or above it
// only exact ones.
TEST(EpisodeProperty, PreEliminationLosesNothingAtTheThreshold) {
    random_streams draw(8);
    for (std::size_t i = 0; i < property_cases(20'000); ++i) {
        const spike_sequence spikes = draw.spikes(24, 3);
        const std::vector<episode> what{
            draw.episode(2 + draw.below(3), static_cast<std::uint32_t>(spikes.unit_count()))};
        const std::uint64_t exact = count_episodes(spikes, what).counts[0];
        for (const strategy_case& how : strategy_cases()) {
            if (how.strategy != episode_strategy::two_pass) continue;
            for (const std::uint64_t at_least : {1, 2, 3}) {
                const std::uint64_t counted =
                    count_episodes(spikes, what, {.strategy = how.strategy, .at_least = at_least},
                                   how.run(1))
                        .counts[0];
                ASSERT_TRUE(exact >= at_least ? counted == exact : counted < at_least)
                    << counterexample(spikes, what[0]);
            }
        }
    }
}

std::map<episode, std::uint64_t> as_map(const episode_table& table) {
    std::map<episode, std::uint64_t> map;
    for (const counted_episode& row : table.episodes) map[row.what] = row.count;
    return map;
}

// Counts all chains up to a size without pruning, by brute force.
std::map<episode, std::uint64_t> unpruned(const spike_sequence& spikes,
                                          const std::vector<delay_interval>& delays,
                                          std::size_t max_size, std::uint64_t threshold,
                                          bool self_repeats, tie_rule ties) {
    std::map<episode, std::uint64_t> frequent;
    std::vector<episode> level;
    for (std::uint32_t u = 0; u < spikes.unit_count(); ++u) level.push_back({{unit_id{u}}, {}});
    for (std::size_t size = 1; size <= max_size; ++size) {
        std::vector<episode> longer;
        for (const episode& what : level) {
            const std::uint64_t count = brute_force(spikes, what, ties).count();
            if (count >= threshold) frequent[what] = count;
            for (const delay_interval& d : delays) {
                for (std::uint32_t u = 0; u < spikes.unit_count(); ++u) {
                    if (!self_repeats && what.units.back() == unit_id{u}) continue;
                    episode next = what;
                    next.units.push_back(unit_id{u});
                    next.delays.push_back(d);
                    longer.push_back(std::move(next));
                }
            }
        }
        level = std::move(longer);
    }
    return frequent;
}

TEST(EpisodeProperty, MiningEqualsUnprunedBruteForce) {
    random_streams draw(9);
    std::uint64_t larger_than_pairs = 0;
    for (std::size_t i = 0; i < property_cases(1'500); ++i) {
        const spike_sequence spikes =
            draw.spikes(22, static_cast<std::uint32_t>(2 + draw.below(3)));
        std::set<delay_interval> distinct;
        for (std::uint64_t d = 0; d <= draw.below(3); ++d) distinct.insert(draw.interval());
        const std::vector<delay_interval> delays(distinct.begin(), distinct.end());
        const std::uint64_t threshold = 1 + draw.below(3);
        const bool self_repeats = draw.below(2) == 0;
        const tie_rule ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        const std::size_t max_size = delays.size() == 3 ? 3 : 4;
        const auto expected = unpruned(spikes, delays, max_size, threshold, self_repeats, ties);
        for (const auto& [what, count] : expected) larger_than_pairs += what.size() > 2 ? 1 : 0;

        const auto mined = [&](episode_strategy strategy, pair_method pairs, const execution& run) {
            return as_map(mine_episodes(spikes,
                                        {.delays = delays,
                                         .min_count = threshold,
                                         .max_size = max_size,
                                         .self_repeats = self_repeats,
                                         .ties = ties,
                                         .strategy = strategy,
                                         .pairs = pairs},
                                        run));
        };
        ASSERT_EQ(mined(episode_strategy::latest_start, pair_method::merge, one_thread()), expected)
            << "case " << i;
        ASSERT_EQ(mined(episode_strategy::latest_start, pair_method::look_back, one_thread()),
                  expected)
            << "case " << i;
        const auto all = strategy_cases();
        const strategy_case& one = all[draw.below(all.size())];
        ASSERT_EQ(mined(one.strategy, pair_method::automatic, one.run(1)), expected)
            << label(one) << " case " << i;
    }
    EXPECT_GT(larger_than_pairs, property_cases(1'500) * 10);
}

// Streams that are too large for brute force: all strategies are compared with the reference, and
// the laws of the definition are checked.
class LargerStreams : public ::testing::Test {
protected:
    episode_mining_options options{.delays = {{duration{0}, duration{30}},
                                              {duration{30}, duration{60}},
                                              {duration{20}, duration{50}}},
                                   .min_count = 25,
                                   .max_size = 5};
};

TEST_F(LargerStreams, EveryStrategyMinesTheSame) {
    // An eighth of the time has an eighth of the occurrences.
    const std::uint32_t part = is_shortened_run() ? 8 : 1;
    options.min_count = 25 / part;
    const spike_sequence spikes = bursting_stream(1, 6, 3'000 / part, 100'000 / part);
    const auto expected = as_map(mine_episodes(spikes, options));
    ASSERT_GT(std::count_if(expected.begin(), expected.end(),
                            [](const auto& e) { return e.first.size() >= 3; }),
              50);
    for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
        options.ties = ties;
        options.strategy = episode_strategy::reference;
        const auto reference = as_map(mine_episodes(spikes, options));
        for (const strategy_case& how : strategy_cases()) {
            options.strategy = how.strategy;
            EXPECT_EQ(as_map(mine_episodes(spikes, options, how.run())), reference) << label(how);
        }
        if (ties == tie_rule::time) {
            EXPECT_EQ(reference, expected);
        }
    }
}

TEST_F(LargerStreams, ThreadsDoNotMatter) {
    options.max_size = 3;
    const spike_sequence spikes =
        bursting_stream(2, 8, is_shortened_run() ? 1'500 : 5'000, 100'000);
    for (const auto strategy : {episode_strategy::latest_start, episode_strategy::state_machine,
                                episode_strategy::segments}) {
        options.strategy = strategy;
        const auto one = mine_episodes(spikes, options, {.threads = 1});
        for (const int threads : {2, 4}) {
            const auto several = mine_episodes(spikes, options, {.threads = threads});
            EXPECT_EQ(several.episodes, one.episodes);
            EXPECT_EQ(several.merge_misses, one.merge_misses);
        }
    }
}

TEST_F(LargerStreams, NamesTimeShiftAndOrderOfTiesDoNotMatter) {
    const spike_sequence spikes = bursting_stream(3, 6, 3'000, 100'000);
    const auto expected = mine_episodes(spikes, options);
    // The same data with units numbered in reverse, a week later, and with simultaneous spikes
    // reversed.
    constexpr std::int64_t week = 7LL * 24 * 3600 * 1'000'000;
    spike_sequence_builder builder;
    for (std::size_t i = spikes.size(); i-- > 0;)
        builder.append(spikes.times_us()[i] + week,
                       builder.unit("n" + std::to_string(9 - to_index(spikes.units()[i]))));
    const spike_sequence changed = builder.finish();
    std::map<episode, std::uint64_t> back;
    for (const counted_episode& row : mine_episodes(changed, options).episodes) {
        episode what = row.what;
        for (unit_id& unit : what.units)
            unit = spikes.unit(std::to_string(9 - std::stoi(changed.name(unit).substr(1))));
        back[what] = row.count;
    }
    EXPECT_EQ(back, as_map(expected));
}

TEST_F(LargerStreams, DoublingTimeAndIntervalsChangesNothing) {
    const spike_sequence spikes = bursting_stream(4, 5, 2'000, 60'000);
    const auto expected = mine_episodes(spikes, options);
    spike_sequence_builder builder;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        builder.append(2 * spikes.times_us()[i], builder.unit(spikes.name(spikes.units()[i])));
    for (delay_interval& d : options.delays) d = {2 * d.low, 2 * d.high};
    const auto doubled = mine_episodes(builder.finish(), options);
    ASSERT_EQ(doubled.episodes.size(), expected.episodes.size());
    for (std::size_t i = 0; i < doubled.episodes.size(); ++i) {
        EXPECT_EQ(doubled.episodes[i].what.units, expected.episodes[i].what.units);
        EXPECT_EQ(doubled.episodes[i].count, expected.episodes[i].count);
    }
}

TEST_F(LargerStreams, NoEpisodeCountsMoreThanItsPrefixOrSuffix) {
    const spike_sequence spikes = bursting_stream(5, 6, 3'000, 100'000);
    const auto counts = as_map(mine_episodes(spikes, options));
    for (const auto& [what, count] : counts) {
        if (what.size() < 2) continue;
        const episode prefix{{what.units.begin(), what.units.end() - 1},
                             {what.delays.begin(), what.delays.end() - 1}};
        const episode suffix{{what.units.begin() + 1, what.units.end()},
                             {what.delays.begin() + 1, what.delays.end()}};
        EXPECT_LE(count, counts.at(prefix));
        EXPECT_LE(count, counts.at(suffix));
    }
}

TEST_F(LargerStreams, PartsFurtherApartThanTheWidestWindowAddUp) {
    const spike_sequence one = bursting_stream(6, 5, 1'000, 30'000);
    const spike_sequence two = bursting_stream(7, 5, 1'000, 30'000);
    spike_sequence_builder builder;
    for (std::uint32_t u = 0; u < 5; ++u) builder.unit(std::to_string(u));
    for (std::size_t i = 0; i < one.size(); ++i) builder.append(one.times_us()[i], one.units()[i]);
    for (std::size_t i = 0; i < two.size(); ++i)
        builder.append(two.times_us()[i] + 1'000'000, two.units()[i]);
    const spike_sequence both = builder.finish();
    random_streams draw(8);
    std::vector<episode> several;
    for (int i = 0; i < 200; ++i) several.push_back(draw.episode(2 + draw.below(3), 5));
    const auto in_one = count_episodes(one, several).counts;
    const auto in_two = count_episodes(two, several).counts;
    const auto in_both = count_episodes(both, several).counts;
    for (std::size_t i = 0; i < several.size(); ++i) EXPECT_EQ(in_both[i], in_one[i] + in_two[i]);
    EXPECT_GT(std::accumulate(in_both.begin(), in_both.end(), std::uint64_t{0}), 100U);
}

// Counterexamples to the published merge exist; the counter that reports them must find some in
// bursts with wide windows.
TEST_F(LargerStreams, SegmentsReportWhereThePublishedMergeFails) {
    const spike_sequence spikes = bursting_stream(10, 4, 6'000, 100'000);
    std::vector<episode> pairs;
    for (std::uint32_t a = 0; a < 4; ++a) {
        for (std::uint32_t b = 0; b < 4; ++b) {
            if (a != b)
                pairs.push_back({{unit_id{a}, unit_id{b}}, {{duration{100}, duration{200}}}});
        }
    }
    const auto segmented = count_episodes(spikes, pairs, {.strategy = episode_strategy::segments});
    EXPECT_EQ(segmented.counts,
              count_episodes(spikes, pairs, {.strategy = episode_strategy::latest_start}).counts);
    EXPECT_GT(segmented.merge_misses, 0U);
}

}  // namespace
}  // namespace spikeweave
