#include "spikeweave/assess/episodes/significance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Models units of 20 Hz on a clock of 1 ms in which every step has probability e0.
occurrence_model published(double e0, double seconds, int size, double span_ticks) {
    const double rho = 1 - std::exp(-0.02);
    return {seconds * 1000, rho * std::pow(e0, size - 1), span_ticks};
}

// Compares six significant digits.
void expect_digits(double value, double expected) {
    EXPECT_NEAR(value, expected, 0.6 * std::pow(10, std::floor(std::log10(expected)) - 5));
}

struct fixture {
    occurrence_model model;
    double mean;
    double variance;
    double threshold;  // at epsilon 0.05; 0 if none was published
};

const std::vector<fixture>& fixtures() {
    static const std::vector<fixture> all{
        {published(0.01, 60, 3, 10), 0.118788, 0.118784, 0},
        {published(0.05, 60, 3, 10), 2.96843, 2.96564, 10.6699},
        {published(0.1, 60, 4, 15), 1.18747, 1.18679, 0},
        {published(0.4, 20, 2, 5), 153.516, 143.091, 207.012},
        {published(0.8, 20, 2, 5), 297.885, 259.272, 369.895},
    };
    return all;
}

TEST(OccurrenceModel, GivesThePublishedMoments) {
    for (const fixture& f : fixtures()) {
        const count_moments moments = count_moments_by_recursion(f.model);

        expect_digits(moments.mean, f.mean);
        expect_digits(moments.variance, f.variance);
        if (f.threshold > 0)
            expect_digits(moments.mean + std::sqrt(moments.variance / 0.05), f.threshold);
    }
}

TEST(OccurrenceModel, HasClosedFormsNearTheRecursion) {
    for (const fixture& f : fixtures()) {
        EXPECT_NEAR(f.model.expected_count(), f.mean, 4e-4 * f.mean);
        EXPECT_NEAR(f.model.count_variance(), f.variance, 1e-3 * f.variance);
        if (f.threshold > 0) {
            EXPECT_NEAR(f.model.chebyshev_threshold(0.05), f.threshold, 5e-4 * f.threshold);
        }
    }
}

TEST(OccurrenceModel, HasATailThatSumsToTheMean) {
    for (const fixture& f : fixtures()) {
        double sum = 0;
        for (std::uint64_t c = 1; c < 2000; ++c) sum += f.model.tail_probability(c);

        const double mean = count_moments_by_recursion(f.model).mean;
        EXPECT_NEAR(sum, mean, 1e-6 * mean);
    }
}

TEST(OccurrenceModel, HasTheTailWorkedByHand) {
    // A renewal takes two of the three ticks and has probability 1/2. There is an occurrence unless
    // both possible starts fail; one in the last tick does not fit.
    const occurrence_model model{3, 0.5, 2};

    EXPECT_DOUBLE_EQ(model.tail_probability(0), 1);
    EXPECT_DOUBLE_EQ(model.tail_probability(1), 0.75);  // Bin(2, 1/2) >= 1
    EXPECT_DOUBLE_EQ(model.tail_probability(2), 0);     // Bin(1, 1/2) >= 2
    EXPECT_DOUBLE_EQ((occurrence_model{2, 0.5, 1}).tail_probability(2), 0.25);
}

TEST(OccurrenceModel, StaysAProbabilityAtTheEnds) {
    EXPECT_EQ((occurrence_model{60'000, 0, 5}).tail_probability(1), 0);
    EXPECT_EQ((occurrence_model{60'000, 0, 5}).tail_probability(0), 1);
    EXPECT_EQ((occurrence_model{10, 1, 2}).tail_probability(5), 1);
    EXPECT_EQ((occurrence_model{10, 1, 2}).tail_probability(6), 0);
    // The count exceeds what fits, also if the span takes the whole recording.
    EXPECT_EQ((occurrence_model{100, 0.1, 200}).tail_probability(1), 0);
    const double tiny = occurrence_model{1e12, 1e-300, 7}.tail_probability(1);
    EXPECT_NEAR(tiny, 1e-288, 1e-291);
    EXPECT_GE((occurrence_model{60'000, 1e-3, 5}).tail_probability(11'000), 0);
    EXPECT_EQ((occurrence_model{60'000, 1e-9, 5}).tail_probability(5'000), 0);  // below any double
    // The number of ticks is not an integer.
    const occurrence_model between{59'999.5, 0.002, 4.5};
    EXPECT_LT(between.tail_probability(140),
              (occurrence_model{60'000, 0.002, 4.5}).tail_probability(140));
}

TEST(OccurrenceModel, HasATailThatFallsWithTheCount) {
    const occurrence_model model{60'000, 0.0008, 5};
    double before = 1;
    for (std::uint64_t c = 0; c < 400; ++c) {
        const double now = model.tail_probability(c);
        ASSERT_LE(now, before) << c;
        ASSERT_GE(now, 0) << c;
        before = now;
    }
    EXPECT_LT(before, 1e-100);
}

TEST(OccurrenceModel, BoundsTheTailByChebyshev) {
    const occurrence_model model{60'000, 0.0008, 5};

    EXPECT_EQ(model.chebyshev_probability(static_cast<std::uint64_t>(model.expected_count())), 1);
    for (const std::uint64_t c : {70U, 100U, 200U})
        EXPECT_LT(model.tail_probability(c), model.chebyshev_probability(c)) << c;
    const double threshold = model.chebyshev_threshold(0.01);
    EXPECT_LE(model.chebyshev_probability(static_cast<std::uint64_t>(std::ceil(threshold))), 0.01);
    EXPECT_GT(model.chebyshev_probability(static_cast<std::uint64_t>(std::floor(threshold))), 0.01);
    EXPECT_THROW(static_cast<void>(model.chebyshev_threshold(0)), invalid_argument);
}

TEST(CountMomentsByRecursion, RefusesWhatHasNoSteps) {
    EXPECT_THROW(count_moments_by_recursion({10.5, 0.1, 2}), invalid_argument);
    EXPECT_THROW(count_moments_by_recursion({10, 0.1, 0}), invalid_argument);
    EXPECT_THROW(count_moments_by_recursion({10, 0.1, 11}), invalid_argument);
    EXPECT_THROW(count_moments_by_recursion({10, 1.1, 2}), invalid_argument);
}

TEST(Adjust, GivesTheValuesWorkedByHand) {
    const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
    const auto expect = [&](correction_method method, std::uint64_t tests,
                            const std::vector<double>& expected) {
        const std::vector<double> q = adjust_p_values(p, tests, method);
        ASSERT_EQ(q.size(), expected.size());
        for (std::size_t i = 0; i < q.size(); ++i)
            EXPECT_NEAR(q[i], expected[i], 1e-12) << to_string(method) << tests << ' ' << i;
    };
    expect(correction_method::none, 4, p);
    expect(correction_method::bonferroni, 4, {0.04, 0.16, 0.12, 0.02});
    expect(correction_method::holm, 4, {0.03, 0.06, 0.06, 0.02});
    expect(correction_method::benjamini_hochberg, 4, {0.02, 0.04, 0.04, 0.02});
    // Hypotheses that are not listed are counted with p = 1.
    expect(correction_method::bonferroni, 10, {0.1, 0.4, 0.3, 0.05});
    expect(correction_method::holm, 10, {0.09, 0.28, 0.24, 0.05});
    expect(correction_method::benjamini_hochberg, 10, {0.05, 0.1, 0.1, 0.05});
    expect(correction_method::bonferroni, 50, {0.5, 1, 1, 0.25});
    EXPECT_TRUE(adjust_p_values({}, 0, correction_method::holm).empty());
}

TEST(Adjust, RefusesWhatIsNoProbabilityOrTooFewTests) {
    EXPECT_THROW(adjust_p_values(std::vector<double>{0.1, 0.2}, 1, correction_method::holm),
                 invalid_argument);
    EXPECT_THROW(adjust_p_values(std::vector<double>{1.1}, 1, correction_method::holm),
                 invalid_argument);
    EXPECT_THROW(adjust_p_values(std::vector<double>{std::nan("")}, 1, correction_method::none),
                 invalid_argument);
    EXPECT_THROW(value_named<correction_method>("fdr"), invalid_argument);
    for (const auto method : {correction_method::none, correction_method::bonferroni,
                              correction_method::holm, correction_method::benjamini_hochberg})
        EXPECT_EQ(value_named<correction_method>(to_string(method)), method);
    for (const auto test :
         {significance_test::jitter, significance_test::exact, significance_test::chebyshev})
        EXPECT_EQ(value_named<significance_test>(to_string(test)), test);
    EXPECT_THROW(value_named<significance_test>("t"), invalid_argument);
}

TEST(Adjust, KeepsOrderAndNeverLowersAndStandsAsTheMethodsDo) {
    random_stream random(1, random_purpose::poisson_spikes, 0);
    for (int round = 0; round < 200; ++round) {
        std::vector<double> p(1 + random.below(40));
        for (double& value : p)  // with ties
            value = static_cast<double>(random.below(30)) / 2000;
        const std::uint64_t tests = p.size() + random.below(50);
        const auto bonferroni = adjust_p_values(p, tests, correction_method::bonferroni);
        const auto holm = adjust_p_values(p, tests, correction_method::holm);
        const auto bh = adjust_p_values(p, tests, correction_method::benjamini_hochberg);
        for (std::size_t i = 0; i < p.size(); ++i) {
            ASSERT_LE(p[i], bh[i]);
            ASSERT_LE(bh[i], holm[i] + 1e-15);
            ASSERT_LE(holm[i], bonferroni[i] + 1e-15);
            ASSERT_LE(bonferroni[i], 1);
            for (std::size_t j = 0; j < p.size(); ++j)
                for (const auto* q : {&bonferroni, &holm, &bh}) {
                    ASSERT_TRUE(p[i] > p[j] || (*q)[i] <= (*q)[j]);
                }
        }
    }
}

// Makes two units with 100 and 200 spikes in 10 s.
spike_sequence regular_spikes() {
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::int64_t i = 0; i < 200; ++i) {
        if (i % 2 == 0) {
            times.push_back(i * 50'000);
            units.push_back(unit_id{0});
        }
        times.push_back(i * 50'000 + 5'000);
        units.push_back(unit_id{1});
    }
    return {times, units, {"a", "b"}, {0s, 10s}};
}

const episode a_to_b{{unit_id{0}, unit_id{1}}, {{4ms, 6ms}}};

TEST(IndependentModel, TakesRatesFromTheRecordedSpan) {
    const occurrence_model model = independent_model(regular_spikes(), a_to_b, 1ms);

    EXPECT_DOUBLE_EQ(model.ticks, 10'000);
    // a fires in 1 of 100 ms (its first spike, at time 0, has no chance to follow one), b within
    // the 2 ms interval in 2 of 50 ms, on average 5 ms later.
    EXPECT_NEAR(model.span_ticks, 5, 1e-3);
    EXPECT_NEAR(model.start_probability, 0.0099 * 0.04, 2e-6);
}

TEST(IndependentModel, RefusesWhatIsNoEpisode) {
    EXPECT_THROW(independent_model(regular_spikes(), {}, 1ms), invalid_argument);
    EXPECT_THROW(independent_model(regular_spikes(), {{unit_id{2}}, {}}, 1ms), invalid_argument);
    EXPECT_THROW(independent_model(regular_spikes(), a_to_b, 0ms), invalid_argument);
    // A recording of length 0 still has finite rates.
    const spike_sequence one({5}, {unit_id{0}}, {"a", "b"}, {5us, 5us});
    EXPECT_TRUE(std::isfinite(independent_model(one, a_to_b, 1ms).expected_count()));
}

TEST(AssessEpisodes, TestsEveryCandidateAndNoSingleUnit) {
    episode_table table;
    table.episodes = {{{{unit_id{0}}, {}}, 100}, {a_to_b, 100}};
    table.levels = {{1, 2, 2, 0, 0}, {2, 50, 1, 0, 0}};
    const occurrence_model model = independent_model(regular_spikes(), a_to_b, 1ms);

    const auto exact = test_against_null(
        regular_spikes(), table,
        {.test = significance_test::exact, .correction = correction_method::bonferroni});
    const auto jitter =
        test_against_null(regular_spikes(), table, {.correction = correction_method::bonferroni});
    const auto bound =
        test_against_null(regular_spikes(), table, {.test = significance_test::chebyshev});

    ASSERT_EQ(exact.size(), 2U);
    EXPECT_EQ(exact[0].expected, 100);
    EXPECT_EQ(exact[0].p, 1);
    EXPECT_EQ(exact[0].q, 1);
    EXPECT_EQ(exact[0].strength, 0);
    EXPECT_EQ(jitter[0].expected, 100);
    EXPECT_EQ(jitter[0].p, 1);
    // Rotated within 10 ms, each of the 100 spikes falls into the 2 ms window with probability 0.2.
    EXPECT_NEAR(jitter[1].expected, 20, 1e-3);
    EXPECT_NEAR(jitter[1].p / std::pow(0.2, 100), 1, 1e-3);
    EXPECT_DOUBLE_EQ(jitter[1].q, 50 * jitter[1].p);
    EXPECT_DOUBLE_EQ(exact[1].p, model.tail_probability(100));
    EXPECT_DOUBLE_EQ(exact[1].q, 50 * exact[1].p);
    EXPECT_DOUBLE_EQ(bound[1].p, model.chebyshev_probability(100));
    // Each of 100 spikes of a is followed: the strength is 1, because a correction for the time
    // that occurrences take would exceed this limit.
    EXPECT_EQ(exact[1].strength, 1);
}

TEST(AssessEpisodes, InvertsTheExpectedCountForTheStrength) {
    episode_table table;
    table.episodes = {{a_to_b, 50}};

    const double strength = test_against_null(regular_spikes(), table).front().strength;

    const double rho = 0.0099;
    const occurrence_model planted{10'000, rho * strength, 5};
    EXPECT_NEAR(planted.expected_count(), 50, 0.01);
    EXPECT_NEAR(strength, 0.51, 0.01);
}

// The six shapes of docs/algorithms/significance.md, with units of 20 and 70 Hz.
TEST(AssessEpisodes, RejectsIndependentPoissonUnitsNoMoreOftenThanAlpha) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const auto u = [](std::uint32_t i) { return unit_id{i}; };
    const std::vector<episode> shapes{
        {{u(0), u(1)}, {{4ms, 6ms}}},
        {{u(0), u(4)}, {{4ms, 6ms}}},
        {{u(4), u(5)}, {{4ms, 6ms}}},
        {{u(0), u(1), u(2)}, {{4ms, 6ms}, {4ms, 6ms}}},
        {{u(4), u(5), u(6)}, {{5ms, 10ms}, {5ms, 10ms}}},
        {{u(0), u(1), u(2), u(3)}, {{5ms, 10ms}, {5ms, 10ms}, {5ms, 10ms}}},
    };
    constexpr std::uint32_t runs = 1000;
    std::vector<int> exact(shapes.size());
    std::vector<int> chebyshev(shapes.size());
    std::vector<double> sum(shapes.size());
    std::vector<double> expected(shapes.size());
    for (std::uint32_t run = 0; run < runs; ++run) {
        spike_sequence_builder builder;
        const auto add = [&](double rate_hz, std::uint32_t first, std::uint32_t n) {
            const auto spikes =
                simulate_poisson(
                    {.units = n, .length = 20s, .rate_hz = rate_hz, .seed = 2 * run + first % 2})
                    .spikes;
            std::vector<unit_id> ids;
            for (std::uint32_t i = 0; i < n; ++i)
                ids.push_back(builder.unit(std::to_string(first + i)));
            for (std::size_t i = 0; i < spikes.size(); ++i)
                builder.append(spikes.times_us()[i], ids[to_index(spikes.units()[i])]);
        };
        add(20, 0, 4);
        add(70, 5, 3);
        const spike_sequence spikes = builder.finish({0s, 20s});
        episode_table table;
        const auto counts = count_episodes(spikes, shapes, {}, {.threads = 1}).counts;
        for (std::size_t s = 0; s < shapes.size(); ++s)
            table.episodes.push_back({shapes[s], counts[s]});
        const auto assessed = test_against_null(
            spikes, table,
            {.test = significance_test::exact, .correction = correction_method::none});
        const auto bounded = test_against_null(
            spikes, table,
            {.test = significance_test::chebyshev, .correction = correction_method::none});
        for (std::size_t s = 0; s < shapes.size(); ++s) {
            exact[s] += assessed[s].p < 0.01 ? 1 : 0;
            chebyshev[s] += bounded[s].p < 0.01 ? 1 : 0;
            sum[s] += static_cast<double>(counts[s]);
            expected[s] += assessed[s].expected;
        }
    }
    for (std::size_t s = 0; s < shapes.size(); ++s) {
        RecordProperty("exact_" + std::to_string(s), exact[s]);
        RecordProperty("chebyshev_" + std::to_string(s), chebyshev[s]);
        RecordProperty("mean_ratio_" + std::to_string(s), std::to_string(sum[s] / expected[s]));
        EXPECT_LE(exact[s], runs * 13 / 1000) << "shape " << s;
        EXPECT_LE(chebyshev[s], exact[s]) << "shape " << s;
        // The test is conservative but not blind: the model's mean is near the observed mean.
        EXPECT_LT(sum[s], 1.1 * expected[s]) << "shape " << s;
        EXPECT_GT(sum[s], 0.85 * expected[s]) << "shape " << s;
    }
}

// Counts the significant pairs among all ordered ones.
std::size_t significant_pairs(const spike_sequence& spikes, std::vector<delay_interval> delays,
                              significance_test test) {
    const episode_table table =
        mine_episodes(spikes, {.delays = std::move(delays), .min_count = 10, .max_size = 2});
    std::size_t out = 0;
    for (const episode_test& one : test_against_null(spikes, table, {.test = test}))
        out += one.q < 0.01 ? 1 : 0;
    return out;
}

// A unit that is silent for a while after each spike fires within more windows than one of the same
// rate without dead time.
TEST(AssessEpisodes, FindsNothingInUnitsWithDeadTimes) {
    const spike_sequence spikes = simulate_patterns({.units = 10,
                                                     .length = 600s,
                                                     .patterns = {},
                                                     .rate_hz = 40,
                                                     .dead_time = 3ms,
                                                     .seed = 1})
                                      .spikes;
    for (const auto test : {significance_test::jitter, significance_test::exact})
        EXPECT_EQ(significant_pairs(spikes, default_delays(), test), 0U) << to_string(test);
}

// If an interval contains several spikes of a unit, the first of them comes early.
TEST(AssessEpisodes, FindsNothingWithIntervalsThatHoldManySpikes) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const auto spikes = [](double rate_hz, duration length) {
        return simulate_poisson({.units = 6, .length = length, .rate_hz = rate_hz, .seed = 1})
            .spikes;
    };
    for (const auto test : {significance_test::jitter, significance_test::exact}) {
        EXPECT_EQ(significant_pairs(spikes(20, 20s), {{0ms, 200ms}}, test), 0U) << to_string(test);
        EXPECT_EQ(significant_pairs(spikes(40, 100s), {{0ms, 50ms}}, test), 0U) << to_string(test);
        EXPECT_EQ(significant_pairs(spikes(100, 100s), {{0ms, 20ms}}, test), 0U) << to_string(test);
        EXPECT_EQ(significant_pairs(spikes(5, 100s), {{0ms, 500ms}}, test), 0U) << to_string(test);
    }
}

// a fires in doublets and b at independent times: a, b, a occurs, but not because of b.
TEST(AssessEpisodes, TakesNoUnitOfALongEpisodeForItsOwnRepetition) {
    random_stream random(1, random_purpose::poisson_spikes, 5);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (int i = 0; i < 3000; ++i) {
        const auto a = static_cast<std::int64_t>(random.below(100'000'000));
        all.emplace_back(a, unit_id{0});
        all.emplace_back(a + 7'000, unit_id{0});
        all.emplace_back(static_cast<std::int64_t>(random.below(100'000'000)), unit_id{1});
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const spike_sequence spikes = sequence_of(std::move(all), {"a", "b"}, {0s, 101s});
    episode_table table;
    const episode around{{unit_id{0}, unit_id{1}, unit_id{0}}, {{1ms, 4ms}, {1ms, 4ms}}};
    table.episodes = {{around, count_episodes(spikes, std::vector{around}).counts.front()}};

    ASSERT_LT(test_against_null(spikes, table, {.test = significance_test::exact})[0].q, 1e-6);
    EXPECT_GT(test_against_null(spikes, table)[0].q, 0.01);
}

// A long episode with a step that is likely by chance is not tested itself: it has the p of that
// step, and is expected as often as the step is, relative to its count.
TEST(AssessEpisodes, EstimatesWhatIsExpectedOfALongEpisodeFromItsChanceStep) {
    const spike_sequence spikes =
        simulate_poisson({.units = 4, .length = 60s, .rate_hz = 30, .seed = 3}).spikes;
    const episode_table table =
        mine_episodes(spikes, {.delays = {{0ms, 10ms}}, .min_count = 5, .max_size = 3});
    const std::vector<episode_test> tests = test_against_null(spikes, table);
    std::map<episode, std::size_t> pair_index;
    for (std::size_t i = 0; i < table.episodes.size(); ++i)
        if (table.episodes[i].what.size() == 2) pair_index[table.episodes[i].what] = i;
    std::size_t long_ones = 0;
    for (std::size_t i = 0; i < table.episodes.size(); ++i) {
        const auto& [what, count] = table.episodes[i];
        if (what.size() != 3) continue;
        const std::size_t first = pair_index.at({{what.units[0], what.units[1]}, {what.delays[0]}});
        const std::size_t second =
            pair_index.at({{what.units[1], what.units[2]}, {what.delays[1]}});
        const std::size_t weakest = tests[first].p < tests[second].p ? second : first;
        if (tests[weakest].p < 0.05) continue;
        EXPECT_EQ(tests[i].p, tests[weakest].p);
        EXPECT_DOUBLE_EQ(tests[i].expected, tests[weakest].expected * static_cast<double>(count) /
                                                static_cast<double>(table.episodes[weakest].count));
        ++long_ones;
    }
    EXPECT_GT(long_ones, 10U);
}

}  // namespace
}  // namespace spikeweave
