#include "spikeweave/assess/surrogates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/surrogates.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/run_length.hpp"
#include "support/threads_as_ranks.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

class MakeSurrogate : public ::testing::TestWithParam<surrogate_method> {};

INSTANTIATE_TEST_SUITE_P(Methods, MakeSurrogate,
                         ::testing::Values(surrogate_method::interval_jitter,
                                           surrogate_method::spike_dithering),
                         [](const auto& method) {
                             return method.param == surrogate_method::interval_jitter
                                        ? "IntervalJitter"
                                        : "SpikeDithering";
                         });

// Makes many spikes within few microseconds, so that they collide and reach the ends of the span.
spike_sequence crowded(std::uint64_t seed) {
    random_stream random(seed, random_purpose::poisson_spikes, 0);
    const std::int64_t begin = -20 + static_cast<std::int64_t>(random.below(40));
    const auto length = static_cast<std::int64_t>(20 + random.below(200));
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::int64_t t = begin; t <= begin + length; ++t)
        for (std::uint32_t u = 0; u < 3; ++u)
            if (random.below(3) <= u) {  // in a third, two thirds or all microseconds
                times.push_back(t);
                units.push_back(unit_id{u});
            }
    return {times, units, {"a", "b", "c"}, {duration{begin}, duration{begin + length}}};
}

TEST_P(MakeSurrogate, KeepsCountsSpanAndNamesInACrowd) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const spike_sequence spikes = crowded(seed);
        const surrogate_options options{.method = GetParam(),
                                        .dither = duration{1 + static_cast<int>(seed % 50)},
                                        .seed = seed};

        const spike_sequence surrogate = make_surrogate(spikes, options, 3);  // checks itself

        ASSERT_EQ(surrogate.span(), spikes.span());
        ASSERT_EQ(surrogate.unit_names(), spikes.unit_names());
        const spike_trains a(spikes);
        const spike_trains b(surrogate);
        for (std::uint32_t u = 0; u < 3; ++u) ASSERT_EQ(a.count(unit_id{u}), b.count(unit_id{u}));
    }
}

TEST_P(MakeSurrogate, MovesNoSpikeFurtherThanPromised) {
    const spike_sequence spikes = simulate_poisson({.units = 3, .length = 20s, .seed = 1}).spikes;
    const surrogate_options options{.method = GetParam(), .dither = 2ms, .seed = 1};
    const spike_trains before(spikes);
    const spike_trains after(make_surrogate(spikes, options, 0));

    // Sorting before and after keeps the largest move; an interval is two dithers wide. Spikes
    // closer than half the dither move together, and may reach into the next interval together.
    const std::int64_t most = GetParam() == surrogate_method::interval_jitter ? 4'000 : 2'000;
    std::int64_t largest = 0;
    std::size_t elsewhere = 0;
    for (std::uint32_t u = 0; u < 3; ++u)
        for (std::size_t i = 0; i < before.count(unit_id{u}); ++i) {
            const std::int64_t from = before.times_us(unit_id{u})[i];
            const std::int64_t to = after.times_us(unit_id{u})[i];
            largest = std::max(largest, std::abs(to - from));
            elsewhere += from / 4'000 != to / 4'000 ? 1 : 0;
        }
    EXPECT_LE(largest, most + 1'000);
    if (GetParam() == surrogate_method::interval_jitter) {
        EXPECT_LE(elsewhere, before.size() / 100);
    }
    EXPECT_GT(largest, most * 8 / 10);
}

TEST_P(MakeSurrogate, KeepsTheDeadTimeOfEachUnit) {
    const spike_sequence spikes =
        simulate_sym26({.units = 3, .length = 20s, .chains = {}, .rest_rate_hz = 150}).spikes;

    const spike_trains after(
        make_surrogate(spikes, {.method = GetParam(), .dither = 25ms, .seed = 1}, 0));

    for (std::uint32_t u = 0; u < 3; ++u) {
        const auto times = after.times_us(unit_id{u});
        std::size_t close = 0;
        for (std::size_t i = 1; i < times.size(); ++i)
            close += times[i] - times[i - 1] < 1'000 ? 1 : 0;
        // Without refractory periods, 14 % of the intervals would be shorter.
        EXPECT_EQ(close, 0U) << u;
    }
}

// Makes units of 40 Hz with a dead time of 3 ms and a doublet in one of `one_in` spikes.
spike_sequence with_doublets(std::uint32_t units, duration length, std::size_t one_in) {
    const spike_sequence clean = simulate_patterns({.units = units,
                                                    .length = length,
                                                    .patterns = {},
                                                    .rate_hz = 40,
                                                    .dead_time = 3ms,
                                                    .seed = 1})
                                     .spikes;
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::size_t i = 0; i < clean.size(); ++i) {
        all.emplace_back(clean.times_us()[i], clean.units()[i]);
        if (i % one_in == 0) all.emplace_back(clean.times_us()[i] + 700, clean.units()[i]);
    }
    return sequence_of(std::move(all), clean.unit_names(), clean.span());
}

TEST_P(MakeSurrogate, KeepsTheCloseSpikesThatThereAre) {
    const spike_sequence spikes = with_doublets(3, 20s, 500);
    const auto shorter_than = [](const spike_trains& trains, std::int64_t us) {
        std::size_t n = 0;
        for (std::uint32_t u = 0; u < trains.unit_count(); ++u) {
            const auto times = trains.times_us(unit_id{u});
            for (std::size_t i = 1; i < times.size(); ++i)
                n += times[i] - times[i - 1] < us ? 1 : 0;
        }
        return n;
    };

    const spike_trains before(spikes);
    const spike_trains after(make_surrogate(spikes, {.method = GetParam(), .seed = 1}, 0));

    ASSERT_GT(shorter_than(before, 3'000), 3U);
    EXPECT_EQ(shorter_than(after, 1'000), shorter_than(before, 1'000));
    EXPECT_LE(shorter_than(after, 3'000), shorter_than(before, 3'000) + 2);
}

TEST_P(MakeSurrogate, DependsOnSeedAndNumberAndOnUnitsAlone) {
    const spike_sequence spikes = simulate_poisson({.units = 3, .length = 5s, .seed = 1}).spikes;
    const surrogate_options options{.method = GetParam(), .seed = 1};
    surrogate_options other = options;
    other.seed = 2;

    EXPECT_EQ(make_surrogate(spikes, options, 0), make_surrogate(spikes, options, 0));
    EXPECT_NE(make_surrogate(spikes, options, 0), make_surrogate(spikes, options, 1));
    EXPECT_NE(make_surrogate(spikes, options, 0), make_surrogate(spikes, other, 0));
    EXPECT_NE(make_surrogate(spikes, options, 0), spikes);

    const spike_trains three(make_surrogate(spikes, options, 0));
    const spike_trains four(
        make_surrogate(simulate_poisson({.units = 4, .length = 5s, .seed = 1}).spikes, options, 0));
    EXPECT_TRUE(std::ranges::equal(three.times_us(unit_id{1}), four.times_us(unit_id{1})));
}

TEST_P(MakeSurrogate, RefusesADitherThatMovesNothing) {
    EXPECT_THROW(make_surrogate({}, {.method = GetParam(), .dither = 0us}, 0), invalid_argument);
    EXPECT_TRUE(make_surrogate({}, {.method = GetParam()}, 0).empty());
}

TEST(SurrogateMethod, HasANameForEveryMethod) {
    EXPECT_EQ(value_named<surrogate_method>("interval-jitter"), surrogate_method::interval_jitter);
    EXPECT_EQ(value_named<surrogate_method>("spike-dithering"), surrogate_method::spike_dithering);
    EXPECT_THROW(value_named<surrogate_method>("shuffle"), invalid_argument);
}

episode_table pairs_of(const spike_sequence& spikes) {
    return mine_episodes(spikes, {.delays = {{4ms, 6ms}}, .min_count = 1, .max_size = 2});
}

TEST(AssessBySurrogates, CountsWhatMakeSurrogateMakes) {
    const spike_sequence spikes = simulate_sym26({.units = 4, .length = 5s, .chains = {3}}).spikes;
    const episode_table table = pairs_of(spikes);
    const surrogate_options options{.surrogates = 20, .seed = 4};

    const auto assessed =
        test_against_surrogates(spikes, table, options, correction_method::bonferroni);

    ASSERT_EQ(assessed.size(), table.episodes.size());
    for (std::size_t i = 0; i < assessed.size(); ++i) {
        std::uint64_t sum = 0;
        int reached = 0;
        for (std::uint32_t s = 0; s < 20; ++s) {
            const std::uint64_t count = count_episodes(make_surrogate(spikes, options, s),
                                                       std::vector{table.episodes[i].what})
                                            .counts.front();
            sum += count;
            reached += count >= table.episodes[i].count ? 1 : 0;
        }
        EXPECT_DOUBLE_EQ(assessed[i].mean_count, static_cast<double>(sum) / 20);
        EXPECT_DOUBLE_EQ(assessed[i].p, (1.0 + reached) / 21);
        const bool single = table.episodes[i].what.size() == 1;
        const double tests = static_cast<double>(table.levels[1].candidates);
        EXPECT_DOUBLE_EQ(assessed[i].q, single ? 1 : std::min(1.0, assessed[i].p * tests));
    }
}

TEST(AssessBySurrogates, DoesNotDependOnThreads) {
    const spike_sequence spikes = simulate_sym26({.length = 5s}).spikes;
    const episode_table table = pairs_of(spikes);
    const auto assess = [&](int threads) {
        return test_against_surrogates(spikes, table, {.surrogates = 12, .seed = 4},
                                       correction_method::holm, {.threads = threads});
    };

    const auto one = assess(1);
    const auto four = assess(4);

    for (std::size_t i = 0; i < one.size(); ++i) {
        ASSERT_EQ(one[i].mean_count, four[i].mean_count);
        ASSERT_EQ(one[i].p, four[i].p);
        ASSERT_EQ(one[i].tail_q, four[i].tail_q);
    }
}

TEST(SurrogatePart, TakesEachSurrogateOnce) {
    for (const std::uint32_t n : {1U, 2U, 7U, 20U, 4'294'967'295U})
        for (const std::uint32_t parts : {1U, 2U, 3U, 7U, 20U}) {
            std::uint32_t next = 0;
            for (std::uint32_t k = 1; k <= parts; ++k) {
                const surrogate_part part{k, parts};
                EXPECT_EQ(part.begin(n), next);
                next = part.end(n);
                EXPECT_LE(next - part.begin(n), n / parts + std::uint64_t{1});
            }
            EXPECT_EQ(next, n);
        }
    EXPECT_THROW((surrogate_part{0, 2}.begin(5)), invalid_argument);
    EXPECT_THROW((surrogate_part{3, 2}.end(5)), invalid_argument);
    EXPECT_THROW(check_part({1, 6}, {.surrogates = 5}), invalid_argument);
}

TEST(SurrogatePart, IsWrittenAsItIsRead) {
    using codec = option_codec<surrogate_part>;
    EXPECT_EQ(codec::read(codec::show({3, 20})), (surrogate_part{3, 20}));
    EXPECT_EQ(codec::read(codec::show({})), surrogate_part{});
    for (const char* text :
         {"", "3", "3/", "/20", "3/20/1", " 3/20", "x/20", "-3/20", "0/2", "3/2"})
        EXPECT_THROW(codec::read(std::string(text)), invalid_argument) << text;
}

TEST(SurrogateTally, IsTheSameInPartsAndOnRanks) {
    const spike_sequence spikes = simulate_sym26({.length = 3s}).spikes;
    const episode_table table = pairs_of(spikes);
    const surrogate_options options{.surrogates = 11, .seed = 4};
    const surrogate_tally whole = count_in_surrogates(spikes, table, options);
    ASSERT_EQ(whole.surrogates(), 11U);
    ASSERT_GT(std::ranges::max(whole.entries(), {}, &surrogate_tally::entry::sum).sum, 0U);

    surrogate_tally merged(table.episodes.size());
    for (std::uint32_t k = 1; k <= 4; ++k)
        merged.merge(surrogate_tally::from_bytes(
            count_in_surrogates(spikes, table, options, {.threads = 2}, {k, 4}).to_bytes()));
    EXPECT_EQ(merged, whole);

    std::vector<surrogate_tally> of_rank(3);
    threads_as_ranks::run(3, [&](int rank, std::shared_ptr<communicator> all) {
        of_rank[static_cast<std::size_t>(rank)] =
            count_in_surrogates(spikes, table, options, {.threads = 1, .ranks = std::move(all)});
    });
    for (const surrogate_tally& one : of_rank) EXPECT_EQ(one, whole);
}

TEST(SurrogateTally, RefusesWhatDoesNotFit) {
    surrogate_tally two(2);
    EXPECT_THROW(two.merge(surrogate_tally(3)), invalid_argument);
    const std::string bytes = two.to_bytes();
    for (const std::size_t size : {0UL, 1UL, 7UL, 9UL, 16UL, 23UL, 39UL})
        EXPECT_THROW(surrogate_tally::from_bytes(bytes.substr(0, size)), invalid_argument);
    const spike_sequence spikes = simulate_sym26({.length = 1s}).spikes;
    EXPECT_THROW(test_against_surrogates(spikes, pairs_of(spikes), two, correction_method::holm),
                 invalid_argument);
}

TEST(AssessBySurrogates, NeedsASurrogateAndStopsOnRequest) {
    const spike_sequence spikes = simulate_sym26({.length = 1s}).spikes;
    std::stop_source stop;
    stop.request_stop();

    EXPECT_THROW(test_against_surrogates(spikes, pairs_of(spikes), surrogate_options{},
                                         correction_method::holm),
                 invalid_argument);
    EXPECT_THROW(test_against_surrogates(spikes, pairs_of(spikes), {.surrogates = 3},
                                         correction_method::holm, {.stop = stop.get_token()}),
                 cancelled);
    EXPECT_THROW(with_surrogate_tests(std::vector<episode_test>(1), {}), invalid_argument);
}

double share_below(const std::vector<double>& p, double alpha) {
    const auto below = std::count_if(p.begin(), p.end(), [&](double v) { return v <= alpha; });
    return static_cast<double>(below) / static_cast<double>(p.size());
}

TEST(AssessBySurrogates, HasRankValuesThatAreUniformForIndependentUnits) {
    const spike_sequence spikes = simulate_poisson({.length = 30s, .seed = 3}).spikes;
    const episode_table table = pairs_of(spikes);

    const auto assessed = test_against_surrogates(spikes, table, {.surrogates = 99, .seed = 1},
                                                  correction_method::none);

    std::vector<double> rank;
    std::vector<double> tail;
    for (std::size_t i = 0; i < assessed.size(); ++i) {
        if (table.episodes[i].what.size() != 2) continue;
        rank.push_back(assessed[i].p);
        tail.push_back(assessed[i].tail_p);
    }
    ASSERT_EQ(rank.size(), 650U);
    EXPECT_LE(share_below(rank, 0.01), 0.0225);  // 1 % plus three standard errors of 650
    EXPECT_NEAR(share_below(rank, 0.2), 0.2, 0.05);
    EXPECT_LE(share_below(tail, 0.01), 0.015);
}

struct culture_result {
    std::size_t pairs = 0;
    std::size_t constant_rates = 0;
    std::size_t jitter = 0;
    std::size_t uncorrected = 0;
    std::set<std::pair<std::size_t, std::size_t>> surrogate{};
};

culture_result significant_pairs(const spike_sequence& spikes, std::uint64_t seed) {
    const episode_table table = pairs_of(spikes);
    const auto assessed = test_against_null(spikes, table);
    const auto constant = test_against_null(spikes, table, {.test = significance_test::exact});
    const auto judged = with_surrogate_tests(
        assessed, test_against_surrogates(spikes, table, {.surrogates = 199, .seed = seed},
                                          correction_method::holm));
    culture_result out;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const episode& what = table.episodes[i].what;
        if (what.size() != 2) continue;
        ++out.pairs;
        out.constant_rates += constant[i].q < 0.01 ? 1 : 0;
        out.jitter += assessed[i].q < 0.01 ? 1 : 0;
        out.uncorrected += judged[i].p < 0.01 ? 1 : 0;
        if (judged[i].q < 0.01)
            out.surrogate.insert({to_index(what.units[0]), to_index(what.units[1])});
    }
    return out;
}

TEST(AssessBySurrogates, FindsNothingInBurstsThatShareNoFineTiming) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
        const auto result = significant_pairs(
            simulate_culture({.channels = 30, .length = 60s, .seed = seed}).spikes, seed);

        ASSERT_EQ(result.pairs, 870U);
        EXPECT_GT(result.constant_rates, 800U);  // these mistake bursts for episodes
        EXPECT_EQ(result.jitter, 0U);
        EXPECT_LE(result.uncorrected, result.pairs / 100);
        EXPECT_TRUE(result.surrogate.empty());
    }
}

// A few doublets hide the dead time if the shortest interval is taken as the dead time.
TEST(AssessBySurrogates, FindsNothingInDeadTimesThatDoubletsBreak) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const spike_sequence spikes = with_doublets(15, 120s, 500);
    for (const auto method :
         {surrogate_method::interval_jitter, surrogate_method::spike_dithering}) {
        const episode_table table = pairs_of(spikes);
        const auto judged = with_surrogate_tests(
            test_against_null(spikes, table),
            test_against_surrogates(spikes, table, {.surrogates = 120, .method = method, .seed = 1},
                                    correction_method::holm));
        EXPECT_EQ(
            std::count_if(judged.begin(), judged.end(), [](const auto& j) { return j.q < 0.01; }),
            0);
    }
}

// a fires in doublets that surrogates take apart, and b at independent times: a, b, a is explained
// by a, b and b, a.
TEST(AssessBySurrogates, TakesNoUnitOfALongEpisodeForItsOwnRepetition) {
    random_stream random(1, random_purpose::poisson_spikes, 5);
    const auto anywhere = [&] { return static_cast<std::int64_t>(random.below(100'000'000)); };
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (int i = 0; i < 3000; ++i) {
        const std::int64_t first = anywhere();
        all.emplace_back(first, unit_id{0});
        all.emplace_back(first + 5'000, unit_id{0});
        all.emplace_back(anywhere(), unit_id{1});
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const spike_sequence spikes = sequence_of(std::move(all), {"a", "b"}, {0s, 101s});
    const episode_table table =
        mine_episodes(spikes, {.delays = {{1ms, 4ms}}, .min_count = 10, .max_size = 3});
    const episode around{{unit_id{0}, unit_id{1}, unit_id{0}}, {{1ms, 4ms}, {1ms, 4ms}}};
    const auto found =
        std::find_if(table.episodes.begin(), table.episodes.end(),
                     [&](const counted_episode& counted) { return counted.what == around; });
    ASSERT_NE(found, table.episodes.end());

    const auto assessed = test_against_surrogates(spikes, table, {.surrogates = 120, .seed = 1},
                                                  correction_method::none);
    const auto& one = assessed[static_cast<std::size_t>(found - table.episodes.begin())];

    EXPECT_GT(static_cast<double>(found->count), 1.5 * one.mean_count);
    EXPECT_GT(one.p, 0.01);
    EXPECT_GT(one.tail_p, 0.01);
}

TEST(AssessBySurrogates, FindsAChainInBursts) {
    const auto result = significant_pairs(
        simulate_culture({.channels = 20, .length = 60s, .chains = {4}, .seed = 1}).spikes, 1);

    for (std::size_t u = 0; u < 3; ++u) EXPECT_TRUE(result.surrogate.contains({u, u + 1})) << u;
    EXPECT_LE(result.surrogate.size(), 3 + result.pairs / 100);
}

}  // namespace
}  // namespace spikeweave
