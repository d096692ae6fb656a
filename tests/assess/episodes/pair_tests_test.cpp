#include "spikeweave/assess/episodes/pair_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "assess/episodes/window_test.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/run_length.hpp"

namespace spikeweave {

using assess::cell_for;
using assess::grid_for;
using assess::histogram_of;
using assess::histograms_from;
using assess::lag_grid;
using assess::lag_histogram;
using assess::window_family;
using assess::window_null;

namespace {

using namespace std::chrono_literals;

constexpr unit_id a{0};
constexpr unit_id b{1};

spike_sequence independent(duration length = 300s, std::uint32_t units = 4, double rate_hz = 20) {
    return simulate_poisson({.units = units, .length = length, .rate_hz = rate_hz, .seed = 3})
        .spikes;
}

spike_sequence with_added(const spike_sequence& spikes,
                          std::vector<std::pair<std::int64_t, unit_id>> added) {
    for (std::size_t i = 0; i < spikes.size(); ++i)
        added.emplace_back(spikes.times_us()[i], spikes.units()[i]);
    std::sort(added.begin(), added.end());
    added.erase(std::unique(added.begin(), added.end()), added.end());
    std::erase_if(added, [&](const auto& one) { return one.first > spikes.span().end.count(); });
    return sequence_of(std::move(added), spikes.unit_names(), spikes.span());
}

// Every `step`-th spike of the first unit is followed by one of the second after this lag, give or
// take half a millisecond.
spike_sequence excited(const spike_sequence& spikes, unit_id from, unit_id to, std::int64_t lag_us,
                       std::size_t step) {
    const spike_trains trains(spikes);
    std::vector<std::pair<std::int64_t, unit_id>> added;
    std::size_t number = 0;
    for (const std::int64_t time : trains.times_us(from))
        if (++number % step == 0)
            added.emplace_back(time + lag_us + static_cast<std::int64_t>(number * 37 % 1000) - 500,
                               to);
    return with_added(spikes, std::move(added));
}

// Without the spikes of unit b that follow one of unit a by such a lag, in microseconds.
spike_sequence without(const spike_sequence& spikes,
                       const std::function<bool(std::int64_t)>& is_removed) {
    const spike_trains trains(spikes);
    std::vector<std::pair<std::int64_t, unit_id>> kept;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::int64_t time = spikes.times_us()[i];
        const bool removed =
            spikes.units()[i] == b && std::ranges::any_of(trains.times_us(a), [&](std::int64_t t) {
                return std::abs(time - t) < 20'000 && is_removed(time - t);
            });
        if (!removed) kept.emplace_back(time, spikes.units()[i]);
    }
    return sequence_of(std::move(kept), spikes.unit_names(), spikes.span());
}

std::vector<pair_test> significant(const pair_tests& all, double alpha = 0.01) {
    std::vector<pair_test> out;
    for (const pair_test& one : all.pairs)
        if (one.q < alpha) out.push_back(one);
    return out;
}

TEST(PairTests, FindExcitationWithItsDelay) {
    const auto found =
        significant(test_pairs(excited(independent(), a, b, 4000, 20), default_delays()));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].from, a);
    EXPECT_EQ(found[0].to, b);
    EXPECT_EQ(found[0].sign, connection_sign::excitatory);
    EXPECT_FALSE(found[0].slow);
    EXPECT_LE(found[0].delay.low, 3500us);
    EXPECT_GE(found[0].delay.high, 4500us);
    EXPECT_GT(static_cast<double>(found[0].count), found[0].expected);
}

TEST(PairTests, FindInhibition) {
    const auto found = significant(test_pairs(
        without(independent(), [](std::int64_t lag) { return lag > 1000 && lag <= 4000; }),
        default_delays()));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].from, a);
    EXPECT_EQ(found[0].to, b);
    EXPECT_EQ(found[0].sign, connection_sign::inhibitory);
    EXPECT_LT(static_cast<double>(found[0].count), found[0].expected / 2);
}

TEST(PairTests, FindNothingAmongIndependentUnits) {
    EXPECT_TRUE(significant(test_pairs(independent(), default_delays())).empty());
}

TEST(PairTests, TellSlowDelaysApart) {
    const auto found =
        significant(test_pairs(excited(independent(), a, b, 14'000, 5), default_delays()));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].slow);
    EXPECT_EQ(found[0].delay, (delay_interval{12ms, 16ms}));
    EXPECT_EQ(found[0].sign, connection_sign::excitatory);
}

// 19 windows of synaptic delays are tested for both signs, and two of slow delays for one.
TEST(PairTests, DivideTheLevelBetweenSynapticAndSlowDelays) {
    const auto edge = [](std::int64_t lag_us) {
        const auto found =
            significant(test_pairs(excited(independent(), a, b, lag_us, 10), default_delays()));
        EXPECT_EQ(found.size(), 1U);
        return found.at(0);
    };
    constexpr double tests = 12;
    const pair_test slow = edge(14'000);
    EXPECT_TRUE(slow.slow);
    EXPECT_NEAR(slow.q / (tests * slow.p), 20, 1e-9);
    const pair_test synaptic = edge(4000);
    EXPECT_FALSE(synaptic.slow);
    EXPECT_NEAR(synaptic.q / (tests * synaptic.p), 20. / 19, 1e-9);
}

TEST(PairTests, TestOnlyTheDelaysThatAreChosen) {
    const spike_sequence spikes = excited(independent(), a, b, 4000, 10);
    const std::vector<delay_interval> around{{3ms, 5ms}};
    const std::vector<delay_interval> beside{{20ms, 25ms}};
    const auto found = significant(test_pairs(spikes, around));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].delay, around[0]);
    EXPECT_TRUE(significant(test_pairs(spikes, beside)).empty());
}

// A strong connection lets neither its own flanks nor the relation over two steps look like
// inhibition.
TEST(PairTests, FindNoInhibitionBesidePeaks) {
    for (std::uint64_t seed = 0; seed < (is_shortened_run() ? 2U : 6U); ++seed) {
        const auto spikes = simulate_sym26({.seed = seed}).spikes;
        for (const pair_test& one : significant(test_pairs(spikes, default_delays())))
            EXPECT_EQ(one.sign, connection_sign::excitatory) << seed;
    }
}

const pair_test& test_of(const pair_tests& all, unit_id from, unit_id to) {
    return *std::ranges::find_if(
        all.pairs, [&](const pair_test& one) { return one.from == from && one.to == to; });
}

// The p of a pair by its definition, if nothing beside its windows is replaced, and if the edges
// are the same without weights.
double weighted_p(const spike_sequence& spikes, const pair_tests& all, const pair_test& pair) {
    const std::vector<delay_interval> windows = synaptic_windows();
    const lag_grid grid = grid_for(std::nullopt, windows, 20ms, 28ms);
    const spike_trains trains(spikes);
    const window_family::verdict unweighted =
        window_family(grid, windows, 10ms, true)
            .test(histogram_of(trains.times_us(pair.from), trains.times_us(pair.to), grid));
    EXPECT_EQ(unweighted.sign, pair.sign);
    std::vector<pair_test> edges = significant(all);
    std::erase_if(edges, [&](const pair_test& edge) {
        return std::minmax(edge.from, edge.to) == std::minmax(pair.from, pair.to);
    });
    const auto number = [&](auto&& is_counted) {
        return static_cast<double>(std::ranges::count_if(edges, is_counted));
    };
    const auto same_sign = [&](const pair_test& edge) { return edge.sign == pair.sign; };
    const auto same_unit = [&](const pair_test& edge) { return edge.from == pair.from; };
    const double of_sign =
        (number([&](const pair_test& edge) { return same_unit(edge) && same_sign(edge); }) + 1) /
        (number(same_unit) + 2);
    std::vector<double> p;
    double sum = 0;
    for (std::size_t w = 0; w < windows.size(); ++w) {
        const double in_window = number(
            [&](const pair_test& edge) { return same_sign(edge) && edge.delay == windows[w]; });
        const double of_window =
            (in_window + 1.0 / static_cast<double>(windows.size())) / (number(same_sign) + 1);
        sum += of_window;
        p.push_back(unweighted.of_windows[w] / (of_window * of_sign));
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    std::ranges::sort(p);
    double out = 1;
    for (std::size_t k = 0; k < p.size(); ++k)
        out = std::min(out, p[k] / static_cast<double>(k + 1));
    return out;
}

TEST(PairTests, AreWeightedByTheEdgesOfOthers) {
    const unit_id c{2};
    const unit_id d{3};
    const unit_id e{4};
    const spike_sequence one_edge = excited(independent(300s, 6), a, b, 4000, 40);
    const pair_tests alone = test_pairs(one_edge, default_delays());
    ASSERT_EQ(significant(alone).size(), 1U);
    const spike_sequence spikes = excited(excited(one_edge, a, c, 4000, 10), d, e, 4000, 10);
    const pair_tests among = test_pairs(spikes, default_delays());
    ASSERT_EQ(significant(among).size(), 3U);
    const std::vector<std::pair<unit_id, unit_id>> pairs{{a, b}, {a, c}, {a, e}, {d, e},
                                                         {d, b}, {b, d}, {e, c}};
    for (const auto& [from, to] : pairs) {
        const pair_test& of = test_of(among, from, to);
        EXPECT_NEAR(of.p / weighted_p(spikes, among, of), 1, 1e-9)
            << to_index(from) << ' ' << to_index(to);
    }
    // An edge says nothing of itself, but edges of others do.
    const pair_test& edge = test_of(alone, a, b);
    EXPECT_NEAR(edge.p / weighted_p(one_edge, {}, edge), 1, 1e-9);
    EXPECT_EQ(edge.count, test_of(among, a, b).count);
    EXPECT_NE(edge.p, test_of(among, a, b).p);
}

// Edges of one delay must not make others of this delay out of chance.
TEST(PairTests, FindNoMoreFalseEdgesBesideTrueOnes) {
    std::size_t found = 0;
    std::size_t true_ones = 0;
    const std::uint64_t seeds = is_shortened_run() ? 3 : 40;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        spike_sequence spikes =
            simulate_poisson({.units = 20, .length = 60s, .rate_hz = 20, .seed = seed}).spikes;
        for (std::uint32_t u = 0; u < 10; u += 2)
            spikes = excited(spikes, unit_id{u}, unit_id{u + 1}, 4000, 8);
        for (const pair_test& one : significant(test_pairs(spikes, default_delays()))) {
            ++found;
            const std::size_t from = to_index(one.from);
            if (from < 10 && from % 2 == 0 && to_index(one.to) == from + 1) ++true_ones;
        }
    }
    EXPECT_GE(true_ones, 4 * seeds);
    EXPECT_LE(static_cast<double>(found - true_ones), 0.02 * static_cast<double>(found));
}

TEST(PairTests, DoNotDependOnThreadsOrTheOrderOfUnits) {
    const spike_sequence spikes =
        excited(excited(independent(60s, 12), unit_id{7}, unit_id{2}, 3000, 8), unit_id{7},
                unit_id{9}, 3000, 8);
    const pair_tests one = test_pairs(spikes, default_delays(), {}, {.threads = 1});
    const pair_tests three = test_pairs(spikes, default_delays(), {}, {.threads = 3});
    ASSERT_EQ(one.pairs.size(), three.pairs.size());
    for (std::size_t i = 0; i < one.pairs.size(); ++i) {
        EXPECT_EQ(one.pairs[i].from, three.pairs[i].from);
        EXPECT_EQ(one.pairs[i].to, three.pairs[i].to);
        EXPECT_EQ(one.pairs[i].p, three.pairs[i].p);
    }
    // The same units in reverse order.
    std::vector<std::pair<std::int64_t, unit_id>> turned;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        turned.emplace_back(spikes.times_us()[i],
                            unit_id{static_cast<std::uint32_t>(11 - to_index(spikes.units()[i]))});
    std::vector<std::string> names(spikes.unit_names().rbegin(), spikes.unit_names().rend());
    std::sort(turned.begin(), turned.end());
    const pair_tests other = test_pairs(
        sequence_of(std::move(turned), std::move(names), spikes.span()), default_delays());
    ASSERT_EQ(one.pairs.size(), other.pairs.size());
    EXPECT_EQ(one.tested, other.tested);
    for (std::size_t i = 0; i < one.pairs.size(); ++i)
        EXPECT_NEAR(one.pairs[i].p, other.pairs[i].p, 1e-12);
}

TEST(PairTests, CountWhatCouldBeSignificant) {
    const pair_tests busy = test_pairs(independent(), default_delays());
    EXPECT_EQ(busy.possible, 12U);
    EXPECT_EQ(busy.tested, 12U);
    EXPECT_EQ(busy.listed_below, 1);
    EXPECT_EQ(busy.pairs.size(), 12U);
    EXPECT_TRUE(busy.untested_units.empty());

    // A unit with a single spike cannot have a significant pair.
    const spike_sequence quiet =
        with_added(sequence_of({}, {"a", "b", "c", "d", "e"}, independent().span()), [] {
            std::vector<std::pair<std::int64_t, unit_id>> all{{1'000'000, unit_id{4}}};
            const spike_sequence busy_units = independent();
            for (std::size_t i = 0; i < busy_units.size(); ++i)
                all.emplace_back(busy_units.times_us()[i], busy_units.units()[i]);
            return all;
        }());
    const pair_tests some = test_pairs(quiet, default_delays());
    EXPECT_EQ(some.possible, 20U);
    EXPECT_EQ(some.tested, 12U);
    EXPECT_EQ(some.untested_units, std::vector<unit_id>{unit_id{4}});
}

TEST(PairTests, TestWhatOtherSpikesSuggestOnly) {
    const spike_sequence spikes = excited(independent(), a, b, 4000, 20);
    const pair_test suggested{a, b, connection_sign::excitatory, false, {3ms, 5ms}, 0, 0, 1, 1};
    pair_test wrong_sign = suggested;
    wrong_sign.sign = connection_sign::inhibitory;
    const pair_tests found = test_suggested_pairs(spikes, std::vector{suggested, wrong_sign}, {});
    ASSERT_EQ(found.pairs.size(), 2U);
    EXPECT_LT(found.pairs[0].q, 0.001);
    EXPECT_GT(found.pairs[1].q, 0.5);
    EXPECT_EQ(found.tested, 2U);
}

TEST(PairTests, LeadFromNoEpochIntoAnother) {
    // Unit b follows a by 3 ms, but always in the next epoch.
    std::vector<std::pair<std::int64_t, unit_id>> all;
    std::vector<time_span> epochs;
    for (std::int64_t k = 0; k < 400; ++k) {
        const std::int64_t begin = k * 100'000;
        all.emplace_back(begin + 50'000, a);
        all.emplace_back(begin + 53'000, b);
        epochs.push_back({duration{begin}, duration{begin + 51'000}});
        epochs.push_back({duration{begin + 52'000}, duration{begin + 99'000}});
    }
    const spike_sequence whole = sequence_of(std::move(all), {"a", "b"}, {0s, 40s});
    EXPECT_EQ(significant(test_pairs(whole, default_delays())).size(), 1U);
    EXPECT_TRUE(significant(test_pairs(within_epochs(whole, epochs), default_delays())).empty());
}

TEST(PairTests, RefuseWhatTheyCannotTest) {
    const spike_sequence spikes = independent(10s);
    EXPECT_THROW(test_pairs(spikes, default_delays(), {.jitter_window = 10us}), invalid_argument);
    const std::vector<delay_interval> empty{{3ms, 3ms}};
    EXPECT_THROW(test_pairs(spikes, empty), invalid_argument);
    const pair_test unknown{a, unit_id{9}, connection_sign::excitatory, false, {3ms, 5ms}, 0, 0,
                            1, 1};
    EXPECT_THROW(test_suggested_pairs(spikes, std::vector{unknown}), invalid_argument);
    EXPECT_TRUE(test_pairs({}, default_delays()).pairs.empty());
    EXPECT_TRUE(test_pairs(spikes, {}).pairs.empty());
}

TEST(LagHistogram, CountsEveryPairInBothDirections) {
    const spike_sequence spikes = independent(20s, 3, 40);
    const spike_trains trains(spikes);
    const std::vector<delay_interval> windows = synaptic_windows();
    const lag_grid grid = grid_for(std::nullopt, windows, 20ms, 28ms);
    histograms_from from(spikes, trains, grid);
    from.count(a);
    for (const unit_id later : {b, unit_id{2}}) {
        lag_histogram ahead(grid.size);
        lag_histogram back(grid.size);
        for (const std::int64_t s : trains.times_us(a))
            for (const std::int64_t t : trains.times_us(later))
                for (std::size_t i = 0; i < grid.size; ++i) {
                    const std::int64_t high =
                        (static_cast<std::int64_t>(i) - grid.before + 1) * 500;
                    ahead[i] += t - s > high - 500 && t - s <= high ? 1 : 0;
                    back[i] += s - t > high - 500 && s - t <= high ? 1 : 0;
                }
        lag_histogram counted;
        from.forwards(later, counted);
        EXPECT_EQ(counted, ahead);
        from.backwards(later, counted);
        EXPECT_EQ(counted, back);
        EXPECT_EQ(histogram_of(trains.times_us(a), trains.times_us(later), grid), ahead);
    }
}

TEST(LagHistogram, HoldsOneMultipleOfAClockInABin) {
    const std::vector<delay_interval> windows{{10ms, 40ms}};
    const lag_grid grid = grid_for(33'333.3, windows, 100ms, 200ms);
    EXPECT_TRUE(grid.on_clock);
    for (std::int64_t k = -2; k <= 5; ++k) {
        const auto lag = static_cast<std::int64_t>(std::llround(33'333.3 * static_cast<double>(k)));
        EXPECT_EQ(grid.bin_of(lag), grid.before - 1 + k);
        EXPECT_EQ(grid.bin_of(lag + 1), grid.before - 1 + k);
        EXPECT_EQ(grid.bin_of(lag - 1), grid.before - 1 + k);
    }
    // (10 ms, 40 ms] holds a lag of one frame only.
    EXPECT_EQ(grid.end_of(40ms) - grid.end_of(10ms), 1U);
}

// The distribution of the definition, by convolution.
std::vector<double> exact_distribution(const lag_histogram& lags, const std::vector<double>& p) {
    std::vector<double> out{1};
    for (std::size_t i = 0; i < lags.size(); ++i)
        for (int n = 0; n < static_cast<int>(lags[i]); ++n) {
            out.push_back(0);
            for (std::size_t k = out.size(); k-- > 0;)
                out[k] = out[k] * (1 - p[i]) + (k > 0 ? out[k - 1] * p[i] : 0);
        }
    return out;
}

// The share of the lags of each bin that are in the window by chance, from its definition: all bins
// of the block are equally likely, others play no part.
std::vector<double> shares(const lag_grid& grid, const delay_interval& window, duration cell) {
    std::vector<double> out(grid.size);
    const std::size_t first = grid.end_of(window.low - cell / 2);
    const std::size_t end = grid.end_of(window.high + cell / 2);
    const auto bins = static_cast<double>(grid.end_of(window.high) - grid.end_of(window.low));
    for (std::size_t i = first; i < end; ++i) out[i] = bins / static_cast<double>(end - first);
    return out;
}

TEST(WindowNull, HasTheTailsOfItsDefinition) {
    const delay_interval window{1500us, 3500us};
    const lag_grid grid = grid_for(std::nullopt, {&window, 1}, 20ms, 25ms);
    const window_null null(grid, window, 10ms);
    const std::vector<double> share = shares(grid, window, 10ms);
    for (std::uint32_t seed = 0; seed < (is_shortened_run() ? 5U : 50U); ++seed) {
        random_stream random(seed, random_purpose::poisson_spikes, 78);
        lag_histogram lags(grid.size);
        const std::uint64_t most = 1 + random.below(12);
        for (double& number : lags) number = static_cast<double>(random.below(most + 1));
        const std::vector<double> exact = exact_distribution(lags, share);
        window_null::moments of = null.moments_of(lags);
        double below = 0;
        double mean = 0;
        double square = 0;
        for (std::size_t c = 0; c < exact.size(); ++c) {
            double from = 0;
            for (std::size_t k = exact.size(); k-- > c;) from += exact[k];
            below += exact[c];
            of.count = static_cast<double>(c);
            mean += of.count * exact[c];
            square += of.count * of.count * exact[c];
            if (from < 1e-15 && below > 1 - 1e-15) break;
            ASSERT_NEAR(null.upper_tail(of) / from, 1, 1e-6) << seed << ' ' << c;
            ASSERT_NEAR(null.lower_tail(of) / below, 1, 1e-6) << seed << ' ' << c;
        }
        EXPECT_NEAR(of.mean, mean, 1e-9);
        EXPECT_NEAR(of.variance, square - mean * mean, 1e-6);
    }
}

TEST(WindowNull, KnowsItsEnds) {
    const delay_interval window{1ms, 3ms};
    const lag_grid grid = grid_for(std::nullopt, {&window, 1}, 20ms, 25ms);
    const window_null null(grid, window, 10ms);
    EXPECT_NEAR(null.share(), 2.0 / 12, 1e-12);
    lag_histogram lags(grid.size);
    EXPECT_EQ(null.upper_tail(null.moments_of(lags)), 1);
    EXPECT_EQ(null.lower_tail(null.moments_of(lags)), 1);
    lags[null.end()] = 3;
    EXPECT_EQ(null.upper_tail(null.moments_of(lags)), 1);
    EXPECT_NEAR(null.lower_tail(null.moments_of(lags)), std::pow(10.0 / 12, 3), 1e-12);
    lags[null.end()] = 0;
    lags[null.first()] = 3;
    EXPECT_NEAR(null.upper_tail(null.moments_of(lags)), std::pow(2.0 / 12, 3), 1e-12);
    EXPECT_EQ(null.lower_tail(null.moments_of(lags)), 1);
}

// The cheap bound must keep every pair that the test would list.
TEST(WindowFamily, LosesNoPairByTheScreen) {
    const std::vector<delay_interval> windows = synaptic_windows();
    const lag_grid grid = grid_for(std::nullopt, windows, 20ms, 29ms);
    const window_family family(grid, windows, 10ms, true);
    std::size_t small = 0;
    for (std::uint32_t seed = 0; seed < (is_shortened_run() ? 2'000U : 40'000U); ++seed) {
        random_stream random(seed, random_purpose::poisson_spikes, 78);
        lag_histogram lags(grid.size);
        // From a lag in a hundred bins to hundreds in each, some with a peak or a trough.
        const double mean = std::pow(10, -2 + 4.5 * random.uniform());
        const std::size_t at = random.below(grid.size);
        const double factor = random.below(3) == 0 ? 2 * random.uniform() : 1;
        for (std::size_t i = 0; i < lags.size(); ++i) {
            const double here = i >= at && i < at + 4 ? mean * factor : mean;
            // About a Poisson number, as a sum of many rare ones.
            for (int n = 0; n < 100; ++n) lags[i] += random.uniform() * 100 < here ? 1 : 0;
        }
        const bool listed = family.test(lags).p < 0.05;
        small += listed ? 1 : 0;
        if (listed) {
            ASSERT_TRUE(family.deviates(lags)) << seed;
            ASSERT_NEAR(family.test(lags, false).p, family.test(lags).p, 1e-12) << seed;
        }
    }
    EXPECT_GT(small, is_shortened_run() ? 20U : 400U);
}

}  // namespace
}  // namespace spikeweave
