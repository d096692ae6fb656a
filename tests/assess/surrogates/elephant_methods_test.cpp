#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "assess/surrogates/gaussian_filter.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/bin_grid.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"

namespace spikeweave {

using assess::gaussian_filter;
using assess::square;

namespace {

using namespace std::chrono_literals;
using enum surrogate_method;
using times_us = std::vector<std::int64_t>;

spike_sequence one_unit(const times_us& times, time_span span) {
    return {times, std::vector<unit_id>(times.size(), unit_id{0}), {"a"}, span};
}

times_us times_of(const spike_sequence& spikes, std::uint32_t unit = 0) {
    const spike_trains trains(spikes);
    const auto times = trains.times_us(unit_id{unit});
    return {times.begin(), times.end()};
}

times_us intervals_of(const times_us& times) {
    times_us out;
    for (std::size_t i = 1; i < times.size(); ++i) out.push_back(times[i] - times[i - 1]);
    return out;
}

template <class T>
std::vector<T> sorted(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    return values;
}

// Three units with dead times and rates of 5 to 40 Hz, in a span that does not begin at 0.
spike_sequence recording(std::uint64_t seed = 1, duration length = 20s) {
    const spike_sequence raw =
        simulate_poisson({.units = 4, .length = length, .seed = seed}).spikes;
    const spike_trains trains(raw);
    std::vector<std::pair<std::int64_t, unit_id>> kept;
    constexpr std::int64_t shift = 7'000'123;
    for (std::uint32_t u = 0; u < 3; ++u) {
        std::int64_t last = INT64_MIN / 2;
        for (const std::int64_t t : trains.times_us(unit_id{u}))
            if (t - last >= 1'500) kept.emplace_back((last = t) + shift, unit_id{u});
    }
    return sequence_of(std::move(kept), {"a", "b", "c", "silent"},
                       {duration{shift}, duration{shift} + length});
}

surrogate_options options_for(surrogate_method method, const spike_sequence& spikes) {
    surrogate_options options{.method = method, .dither = 15ms, .seed = 3};
    if (method == trial_shifting) options.trials = regular_trials(spikes.span(), 500ms, 200ms);
    return options;
}

// sqrt(n) times the largest distance of a sample from the uniform distribution on [first, last];
// above 1.95 with a probability of 1e-3.
double distance_from_uniform(times_us values, std::int64_t first, std::int64_t last) {
    std::sort(values.begin(), values.end());
    const auto n = static_cast<double>(values.size());
    const auto places = static_cast<double>(last - first + 1);
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double below = static_cast<double>(values[i] - first) / places;
        const double upto = static_cast<double>(values[i] - first + 1) / places;
        largest = std::max(
            {largest, below - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - upto});
    }
    return largest * std::sqrt(n);
}
constexpr double at_p_of_one_in_a_thousand = 1.95;

class SpadeSurrogate : public ::testing::TestWithParam<surrogate_method> {};

INSTANTIATE_TEST_SUITE_P(Methods, SpadeSurrogate,
                         ::testing::ValuesIn(values_of<surrogate_method>()),
                         [](const auto& method) {
                             std::string name(to_string(method.param));
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_P(SpadeSurrogate, KeepsUnitsAndSpanAndAccountsForEverySpike) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const spike_sequence spikes = recording(seed, 3s);
        surrogate_options options = options_for(GetParam(), spikes);
        options.seed = seed;
        const surrogate_spikes made = surrogate_maker(spikes, options).make_sequence(2);

        EXPECT_EQ(made.spikes.unit_names(), spikes.unit_names());
        EXPECT_EQ(made.spikes.span(), spikes.span());
        EXPECT_EQ(made.spikes.size() + made.merged + made.dropped, spikes.size());
        EXPECT_GT(made.spikes.size(), spikes.size() / 2);
        EXPECT_NE(times_of(made.spikes), times_of(spikes));
    }
}

TEST_P(SpadeSurrogate, IsAPureFunctionOfSeedAndNumberForEachUnit) {
    const spike_sequence spikes = recording();
    const surrogate_options options = options_for(GetParam(), spikes);
    const surrogate_maker maker(spikes, options, binning_options{});
    surrogate_options other = options;
    other.seed = 4;

    const spike_sequence third = maker.make_sequence(3).spikes;
    EXPECT_EQ(make_surrogate(spikes, options, 3), third);
    EXPECT_NE(maker.make_sequence(4).spikes, third);
    EXPECT_NE(make_surrogate(spikes, other, 3), third);
    EXPECT_EQ(make_binned_surrogate(spikes, {}, options, 3), maker.make(3));
    EXPECT_NE(maker.make(4), maker.make(3));
    EXPECT_EQ(maker.make_sequence(3).spikes, third);

    // A unit does not depend on the others.
    const spike_trains trains(spikes);
    std::vector<std::pair<std::int64_t, unit_id>> alone;
    for (const std::int64_t t : trains.times_us(unit_id{0})) alone.emplace_back(t, unit_id{0});
    const spike_sequence single = sequence_of(std::move(alone), {"a"}, spikes.span());
    EXPECT_EQ(times_of(make_surrogate(single, options, 3)), times_of(third));
}

TEST_P(SpadeSurrogate, DoesNotDependOnThreadsOrOrder) {
    const spike_sequence spikes = recording();
    const surrogate_maker maker(spikes, options_for(GetParam(), spikes), binning_options{});
    constexpr std::uint32_t count = 12;
    std::vector<binned_spikes> in_order;
    for (std::uint32_t s = 0; s < count; ++s) in_order.push_back(maker.make(s));

    std::vector<binned_spikes> at_once(count);
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::uint32_t s = count; s-- > 0;)
                if (s % 4 == t) at_once[s] = maker.make(s);
        });
    threads.clear();

    EXPECT_EQ(at_once, in_order);
}

TEST_P(SpadeSurrogate, IsTheSameInBinsAsBinnedAfterwards) {
    const spike_sequence spikes = recording();
    for (const binning_options& bins : {binning_options{}, binning_options{.bin = 3ms},
                                        binning_options{.bin = 5ms, .span = time_span{9s, 20s}}}) {
        const surrogate_maker maker(spikes, options_for(GetParam(), spikes), bins);
        for (std::uint32_t s = 0; s < 3; ++s)
            EXPECT_EQ(maker.make(s), bin_spikes(maker.make_sequence(s).spikes, bins).spikes);
    }
    // Elephant's grid is displaced at some edges, so that shuffled bins may be outside.
    if (GetParam() == bin_shuffling) return;
    const binning_options elephant{.compat = compatibility::elephant};
    const surrogate_maker maker(spikes, options_for(GetParam(), spikes), elephant);
    EXPECT_EQ(maker.make(1), bin_spikes(maker.make_sequence(1).spikes, elephant).spikes);
}

TEST_P(SpadeSurrogate, StandsRecordingsWithHardlyASpike) {
    const time_span span{-2s, -1s};
    for (const times_us& times :
         {times_us{}, times_us{-2'000'000}, times_us{-1'000'000}, times_us{-1'500'000},
          times_us{-1'999'999, -1'999'998}, times_us{-2'000'000, -1'400'000, -1'000'000}}) {
        const spike_sequence spikes = one_unit(times, span);
        surrogate_options options = options_for(GetParam(), spikes);
        options.trials = {{-3s, -1'500ms}, {-1'500ms, 1s}};
        for (const duration dither : {duration{5ms}, duration{40min}})
            for (const auto edges : {surrogate_edges::drop, surrogate_edges::clamp}) {
                options.dither = dither;
                options.edges = edges;
                const surrogate_maker maker(spikes, options, binning_options{.bin = 5ms});
                for (std::uint32_t s = 0; s < 20; ++s) {
                    const surrogate_spikes made = maker.make_sequence(s);  // checks itself
                    EXPECT_LE(made.spikes.size(), times.size());
                    EXPECT_LE(maker.make(s).size(), times.size());
                }
            }
    }
    const surrogate_options options = options_for(GetParam(), recording());
    EXPECT_TRUE(make_surrogate({}, options, 0).empty());
    EXPECT_EQ(make_binned_surrogate({}, {}, options, 0).size(), 0U);
}

TEST_P(SpadeSurrogate, RefusesWhatCannotBe) {
    const spike_sequence spikes = recording();
    surrogate_options options = options_for(GetParam(), spikes);
    options.dither = 0us;
    EXPECT_THROW(surrogate_maker(spikes, options), invalid_argument);
    options.dither = 61min;
    EXPECT_THROW(surrogate_maker(spikes, options), invalid_argument);
    options.dither = 15ms;
    EXPECT_THROW(surrogate_maker(spikes, options, {.bin = 0ms}), invalid_argument);
    EXPECT_THROW(surrogate_maker(spikes, options).make(0), invalid_argument);
}

// Checks which methods keep every spike.
TEST_P(SpadeSurrogate, KeepsEverySpikeUnlessItSaysOtherwise) {
    const std::set<surrogate_method> lossy{dither_spikes, dither_spike_train, trial_shifting,
                                           bin_shuffling};
    if (lossy.contains(GetParam())) return;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const spike_sequence spikes = recording(seed);
        surrogate_options options = options_for(GetParam(), spikes);
        options.seed = seed;
        const surrogate_spikes made = surrogate_maker(spikes, options).make_sequence(0);
        EXPECT_EQ(made.merged, 0U);
        EXPECT_EQ(made.dropped, 0U);
        for (std::uint32_t u = 0; u < 3; ++u)
            EXPECT_EQ(times_of(made.spikes, u).size(), times_of(spikes, u).size());
    }
}

// Makes a spike every 100 ms, midway between multiples of it.
spike_sequence clock(std::size_t n, std::int64_t origin = -3'000'000) {
    times_us times;
    for (std::size_t i = 0; i < n; ++i)
        times.push_back(origin + 50'000 + static_cast<std::int64_t>(i) * 100'000);
    return one_unit(times, {duration{origin}, duration{origin + 100'000 * static_cast<long>(n)}});
}

times_us displacements(const surrogate_options& options, std::size_t n) {
    const spike_sequence before = clock(n);
    const times_us from = times_of(before);
    times_us by = times_of(make_surrogate(before, options, 1));
    EXPECT_EQ(by.size(), n);
    for (std::size_t i = 0; i < by.size(); ++i) by[i] -= from[i];
    return by;
}

TEST(DitherSpikes, MovesEachSpikeUniformly) {
    for (const surrogate_method method :
         {spike_dithering, dither_spikes, dither_spikes_with_refractory_period}) {
        const times_us by = displacements({.method = method, .dither = 15ms, .seed = 2}, 100'000);
        EXPECT_LT(distance_from_uniform(by, -15'000, 15'000), at_p_of_one_in_a_thousand)
            << to_string(method);
    }
}

TEST(DitherSpikes, DropsOrClampsWhatReachesAnEnd) {
    const spike_sequence spikes = one_unit({1'000, 1'001, 50'000, 99'999, 100'000}, {1ms, 100ms});
    surrogate_options options{.method = dither_spikes, .dither = 10ms};
    std::size_t dropped = 0;
    std::size_t clamped = 0;
    for (std::uint32_t s = 0; s < 400; ++s) {
        options.edges = surrogate_edges::drop;
        const surrogate_spikes made = surrogate_maker(spikes, options).make_sequence(s);
        EXPECT_GT(made.spikes.times_us().front(), 1'000);
        EXPECT_LT(made.spikes.times_us().back(), 100'000);
        dropped += made.dropped;
        options.edges = surrogate_edges::clamp;
        const surrogate_spikes held = surrogate_maker(spikes, options).make_sequence(s);
        EXPECT_EQ(held.dropped, 0U);
        clamped += held.spikes.times_us().front() == 1'000 ? 1 : 0;
        EXPECT_EQ(held.spikes.size() + held.merged, 5U);
    }
    EXPECT_NEAR(static_cast<double>(dropped), 4 * 400 / 2.0, 80);  // half of the four near the ends
    EXPECT_NEAR(static_cast<double>(clamped), 400 * 3 / 4.0, 40);  // unless both move inwards
}

TEST(DitherSpikes, DropsWhatLandsOnAnEndItself) {
    for (const std::int64_t at : {0, 1'000}) {
        const surrogate_maker maker(one_unit({at}, {0ms, 1ms}),
                                    {.method = dither_spikes, .dither = 1us});
        std::size_t kept = 0;
        for (std::uint32_t s = 0; s < 3'000; ++s) kept += maker.make_sequence(s).spikes.size();
        EXPECT_NEAR(static_cast<double>(kept), 1'000, 110);  // only those that move inwards
    }
}

TEST(DitherSpikes, MergesWhatMeetsOnAMicrosecondAndSaysSo) {
    times_us times;
    for (std::int64_t t = 0; t < 1'000; ++t) times.push_back(t);
    const surrogate_spikes made =
        surrogate_maker(one_unit(times, {-1ms, 2ms}), {.method = dither_spikes, .dither = 100us})
            .make_sequence(0);

    EXPECT_EQ(made.dropped, 0U);
    EXPECT_EQ(made.spikes.size() + made.merged, 1'000U);
    EXPECT_GT(made.merged, 250U);  // a share of 1/e of the bins in the middle stays empty
}

TEST(DitherSpikesWithRefractoryPeriod, KeepsSpikesApartAndInOrderWithinTheDither) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const spike_sequence spikes = recording(seed);
        for (const duration period : {1ms, 40ms}) {
            const surrogate_options options{.method = dither_spikes_with_refractory_period,
                                            .dither = 15ms,
                                            .seed = seed,
                                            .refractory_period = period};
            const spike_sequence made = make_surrogate(spikes, options, 0);
            for (std::uint32_t u = 0; u < 3; ++u) {
                const times_us from = times_of(spikes, u);
                const times_us to = times_of(made, u);
                const auto shortest = std::ranges::min(intervals_of(from));
                EXPECT_GE(std::ranges::min(intervals_of(to)),
                          std::min<std::int64_t>(period.count(), shortest));
                ASSERT_EQ(from.size(), to.size());
                for (std::size_t i = 0; i < from.size(); ++i)
                    ASSERT_LE(std::abs(to[i] - from[i]), 15'000);
            }
        }
    }
}

TEST(DitherSpikesWithRefractoryPeriod, TakesTheBinWhereNothingElseIsSaid) {
    const spike_sequence spikes = one_unit({0, 30'000, 60'000, 90'000}, {0s, 1s});
    const surrogate_options options{.method = dither_spikes_with_refractory_period,
                                    .dither = 100ms};
    for (const duration bin : {1ms, 20ms}) {
        std::int64_t shortest = INT64_MAX;
        const surrogate_maker maker(spikes, options, {.bin = bin});
        for (std::uint32_t s = 0; s < 300; ++s) {
            const times_us made = times_of(maker.make_sequence(s).spikes);
            shortest = std::min(shortest, std::ranges::min(intervals_of(made)));
        }
        EXPECT_GE(shortest, bin.count());
        EXPECT_LT(shortest, bin.count() + 2'000);
    }
}

TEST(DitherSpikeTrain, MovesAllSpikesOfAUnitTogetherAndUnitsApart) {
    const spike_sequence spikes = recording();
    const surrogate_options options{.method = dither_spike_train, .dither = 15ms, .seed = 5};
    const spike_sequence made = make_surrogate(spikes, options, 0);
    std::set<std::int64_t> shifts;
    for (std::uint32_t u = 0; u < 3; ++u) {
        const times_us from = times_of(spikes, u);
        const times_us to = times_of(made, u);
        const std::int64_t shift = to[to.size() / 2 - 1] - from[to.size() / 2 - 1];
        times_us expected;
        const auto [first, last] = std::pair{spikes.span().begin, spikes.span().end};
        std::int64_t found = INT64_MIN;
        for (const std::int64_t candidate : {to.front() - from[0], to.back() - from.back()}) {
            expected.clear();
            for (const std::int64_t t : from)
                if (t + candidate >= first.count() && t + candidate < last.count())
                    expected.push_back(t + candidate);
            if (expected == to) found = candidate;
        }
        EXPECT_NE(found, INT64_MIN) << shift;
        EXPECT_LE(std::abs(found), 15'000);
        shifts.insert(found);
    }
    EXPECT_EQ(shifts.size(), 3U);
}

TEST(DitherSpikeTrain, ShiftsUniformly) {
    const spike_sequence spikes = clock(3);
    const surrogate_maker maker(spikes, {.method = dither_spike_train, .dither = 15ms});
    const std::int64_t from = times_of(spikes)[0];
    times_us by;
    for (std::uint32_t s = 0; s < 100'000; ++s)
        by.push_back(maker.make_sequence(s).spikes.times_us()[0] - from);
    EXPECT_LT(distance_from_uniform(by, -15'000, 15'000), at_p_of_one_in_a_thousand);
}

TEST(JitterSpikes, DrawsEachSpikeUniformlyWithinItsOwnCell) {
    const surrogate_options options{.method = jitter_spikes, .dither = 20ms, .seed = 2};
    // Spikes are in the middle of the fifth cell of each 100 ms: 40 to 60 ms.
    times_us by = displacements(options, 100'000);
    for (std::int64_t& d : by) d += 10'000;
    EXPECT_LT(distance_from_uniform(by, 0, 19'999), at_p_of_one_in_a_thousand);

    const spike_sequence spikes = recording();
    const spike_sequence made = make_surrogate(spikes, options, 0);
    const auto cells = [&](std::uint32_t u, const spike_sequence& of) {
        times_us out = times_of(of, u);
        for (std::int64_t& t : out) t = (t - spikes.span().begin.count()) / 20'000;
        return out;
    };
    for (std::uint32_t u = 0; u < 3; ++u) EXPECT_EQ(cells(u, spikes), cells(u, made));
}

TEST(RandomiseSpikes, DrawsUniformlyInTheWholeSpan) {
    const spike_sequence spikes = clock(100'000);
    const surrogate_options options{.method = randomise_spikes, .seed = 2};
    const times_us made = times_of(make_surrogate(spikes, options, 1));
    ASSERT_EQ(made.size(), 100'000U);
    EXPECT_LT(distance_from_uniform(made, spikes.span().begin.count(), spikes.span().end.count()),
              at_p_of_one_in_a_thousand);
}

TEST(ShuffleIsis, KeepsTheIntervalsAndMixesTheirOrder) {
    const spike_sequence spikes = recording();
    const spike_sequence made = make_surrogate(spikes, {.method = shuffle_isis, .seed = 1}, 0);
    const std::int64_t begin = spikes.span().begin.count();
    for (std::uint32_t u = 0; u < 3; ++u) {
        // The intervals include the time to the first spike.
        times_us from = times_of(spikes, u);
        times_us to = times_of(made, u);
        from.insert(from.begin(), begin);
        to.insert(to.begin(), begin);
        EXPECT_NE(intervals_of(from), intervals_of(to));
        EXPECT_EQ(sorted(intervals_of(from)), sorted(intervals_of(to)));
    }
    // All orders are equally likely.
    const surrogate_maker maker(one_unit({1, 3, 7}, {0s, 1s}), {.method = shuffle_isis});
    std::map<times_us, int> seen;
    for (std::uint32_t s = 0; s < 6'000; ++s) ++seen[times_of(maker.make_sequence(s).spikes)];
    EXPECT_EQ(seen.size(), 6U);
    for (const auto& [times, count] : seen) EXPECT_NEAR(count, 1'000, 130);
    // A first spike at the beginning of the span has no interval before it.
    const surrogate_maker first(one_unit({0, 3, 7}, {0s, 1s}), {.method = shuffle_isis});
    for (std::uint32_t s = 0; s < 20; ++s)
        EXPECT_EQ(first.make_sequence(s).spikes.times_us()[0], 0);
}

// Counts the displacements of one spike between two others over many surrogates.
std::map<std::int64_t, int> steps_of(const times_us& times, const surrogate_options& options,
                                     std::size_t spike, std::uint32_t surrogates = 4'000) {
    const surrogate_maker maker(one_unit(times, {0s, 10s}), options);
    std::map<std::int64_t, int> out;
    for (std::uint32_t s = 0; s < surrogates; ++s)
        ++out[times_of(maker.make_sequence(s).spikes)[spike] - times[spike]];
    return out;
}

TEST(JointIsiDithering, KeepsTheEndsAndStaysWithinTheDither) {
    for (const surrogate_method method : {joint_isi_dithering, isi_dithering})
        for (const bool alternate : {true, false})
            for (const joint_isi_steps steps : {joint_isi_steps::window, joint_isi_steps::fast}) {
                const spike_sequence spikes = recording(3);
                const surrogate_options options{
                    .method = method,
                    .dither = 15ms,
                    .seed = 1,
                    .joint_isi = {.alternate = alternate, .steps = steps}};
                const spike_sequence made = make_surrogate(spikes, options, 0);
                for (std::uint32_t u = 0; u < 3; ++u) {
                    const times_us from = times_of(spikes, u);
                    const times_us to = times_of(made, u);
                    ASSERT_EQ(from.size(), to.size());
                    EXPECT_EQ(from.front(), to.front());
                    EXPECT_EQ(from.back(), to.back());
                    std::int64_t largest = 0;
                    for (std::size_t i = 0; i < from.size(); ++i)
                        largest = std::max(largest, std::abs(to[i] - from[i]));
                    if (steps == joint_isi_steps::window) {
                        EXPECT_LE(largest, 15'000);
                    }
                    EXPECT_GT(largest, 12'000);
                }
            }
}

// Only the pairs of intervals (10.5, 30.5) ms and (30.5, 10.5) ms occur, unsmoothed: each second
// spike is at one of two positions, 20 ms apart.
TEST(JointIsiDithering, DrawsFromThePairsOfIntervalsThatThereAre) {
    times_us times{0};
    for (int i = 0; i < 40; ++i) times.push_back(times.back() + (i % 2 == 0 ? 10'500 : 30'500));
    surrogate_options options{
        .method = joint_isi_dithering, .dither = 25ms, .joint_isi = {.sigma = 0ms}};
    // There are 20 pairs (10, 30) and 19 pairs (30, 10), because spikes move one after another.
    const auto steps = steps_of(times, options, 1);
    EXPECT_EQ(steps.size(), 2U);
    EXPECT_NEAR(steps.at(20'000), 4'000 * 19 / 39.0, 150);
    options.dither = 19ms;
    EXPECT_EQ(steps_of(times, options, 1).size(), 1U);
    options.joint_isi.steps = joint_isi_steps::fast;
    EXPECT_EQ(steps_of(times, options, 1).size(), 2U);
    // Single intervals of 10 and 30 can also be combined with themselves, but have no other sum of
    // 40; with smoothed neighbours there are more combinations.
    options.method = isi_dithering;
    EXPECT_EQ(steps_of(times, options, 1).size(), 2U);
    options.joint_isi.sigma = 2ms;
    EXPECT_GT(steps_of(times, options, 1).size(), 10U);
}

// The window has 20 cells forward and 19 back.
TEST(JointIsiDithering, LeavesOutTheFarthestStepBack) {
    times_us times{0};
    for (int i = 0; i < 40; ++i) times.push_back(times.back() + (i % 2 == 0 ? 30'500 : 10'500));
    surrogate_options options{
        .method = joint_isi_dithering, .dither = 20ms, .joint_isi = {.sigma = 0ms}};
    EXPECT_EQ(steps_of(times, options, 1).size(), 1U);
    options.dither = 21ms;
    EXPECT_EQ(steps_of(times, options, 1).size(), 2U);
}

TEST(JointIsiDithering, KnowsWhichIntervalComesFirst) {
    times_us times{0};
    for (int i = 0; i < 30; ++i)
        times.push_back(times.back() + std::array{10'500, 30'500, 200'000}[i % 3U]);
    const surrogate_options options{
        .method = joint_isi_dithering, .dither = 25ms, .joint_isi = {.sigma = 0ms}};
    // 30 ms never occurs before 10 ms.
    EXPECT_EQ(steps_of(times, options, 1), (std::map<std::int64_t, int>{{0, 4'000}}));
    surrogate_options single = options;
    single.method = isi_dithering;
    EXPECT_EQ(steps_of(times, single, 1).size(), 2U);
}

TEST(JointIsiDithering, LetsNoTwoSpikesMeet) {
    // (1, 3) ms could become (4, 0) ms, because (4, 0.5) ms occurs.
    times_us times{0};
    for (int i = 0; i < 30; ++i)
        times.push_back(times.back() +
                        std::array{1'000, 3'000, 200'000, 4'000, 500, 200'000}[i % 6U]);
    const auto steps = steps_of(
        times, {.method = joint_isi_dithering, .dither = 25ms, .joint_isi = {.sigma = 0ms}}, 1);
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps.begin()->first, 0);
    EXPECT_EQ(steps.rbegin()->first, 2'999);
}

TEST(JointIsiDithering, MovesUniformlyWhereIntervalsAreTooLong) {
    const times_us times{0, 80'000, 160'000};
    const surrogate_options options{.method = joint_isi_dithering, .dither = 15ms};
    const surrogate_maker maker(one_unit(times, {0s, 1s}), options);
    times_us by;
    for (std::uint32_t s = 0; s < 100'000; ++s)
        by.push_back(maker.make_sequence(s).spikes.times_us()[1] - times[1]);
    EXPECT_LT(distance_from_uniform(by, -15'000, 15'000), at_p_of_one_in_a_thousand);
}

TEST(JointIsiDithering, LeavesNoIntervalBelowTheDeadTimeCell) {
    times_us times{0};
    random_stream random(1, random_purpose::poisson_spikes, 0);
    for (int i = 0; i < 2'000; ++i)
        times.push_back(times.back() + 5'000 + static_cast<std::int64_t>(random.below(30'000)));
    for (const bool cutoff : {true, false}) {
        const surrogate_options options{
            .method = joint_isi_dithering, .dither = 15ms, .joint_isi = {.cutoff = cutoff}};
        const auto made = times_of(make_surrogate(one_unit(times, {0s, 100s}), options, 0));
        const std::int64_t shortest = std::ranges::min(intervals_of(made));
        EXPECT_EQ(shortest >= 4'000, cutoff) << shortest;
    }
}

TEST(JointIsiDithering, RefusesHistogramsThatCannotBe) {
    const spike_sequence spikes = recording();
    const auto with = [&](joint_isi_options how) {
        surrogate_maker(spikes, {.method = isi_dithering, .joint_isi = how});
    };
    EXPECT_NO_THROW(with({}));
    EXPECT_THROW(with({.truncation_limit = 0ms}), invalid_argument);
    EXPECT_THROW(with({.bins = 1}), invalid_argument);
    EXPECT_THROW(with({.bins = 1'001}), invalid_argument);
    EXPECT_THROW(with({.sigma = -1ms}), invalid_argument);
    EXPECT_THROW(with({.refractory_period = -1ms}), invalid_argument);
}

// The expected values are those of scipy.ndimage.gaussian_filter (scipy 1.17.1) for the same
// square.
TEST(GaussianFilter, EqualsScipys) {
    const std::array<std::pair<double, std::array<double, 5>>, 3> expected{
        {{0.5,
          {0.7985214730885484, 4.082524786383685, 3.8119156677371415, 5.189569558366261,
           1.9739934654268474}},
         {1.7,
          {2.7536446593409543, 3.475628735288954, 2.99759242593626, 4.279694669037404,
           2.571143533194757}},
         // The kernel is wider than the square with its mirror image.
         {4.0,
          {3.139035823321712, 3.077940965315073, 3.098603083740153, 3.1804181868981356,
           3.0679036840848775}}}};
    for (const auto& [sigma, values] : expected) {
        square s(6);
        for (std::size_t i = 0; i < 6; ++i)
            for (std::size_t j = 0; j < 6; ++j)
                s.at(i, j) = static_cast<double>((3 * i * i + 5 * j + 2 * i * j) % 7);
        gaussian_filter(s, sigma);
        EXPECT_NEAR(s.at(0, 0), values[0], 1e-12);
        EXPECT_NEAR(s.at(0, 5), values[1], 1e-12);
        EXPECT_NEAR(s.at(2, 3), values[2], 1e-12);
        EXPECT_NEAR(s.at(5, 0), values[3], 1e-12);
        EXPECT_NEAR(s.at(4, 4), values[4], 1e-12);
    }
}

TEST(TrialShifting, TurnsEachTrialByItselfAndDropsWhatIsOutside) {
    const spike_sequence spikes = recording();
    surrogate_options options{.method = trial_shifting, .dither = 30ms, .seed = 1};
    options.trials = regular_trials(spikes.span(), 500ms, 200ms);
    const surrogate_spikes made = surrogate_maker(spikes, options).make_sequence(0);
    std::size_t outside = 0;
    std::set<std::int64_t> shifts;
    for (std::uint32_t u = 0; u < 3; ++u) {
        const times_us from = times_of(spikes, u);
        const times_us to = times_of(made.spikes, u);
        outside += from.size();
        for (const time_span& trial : options.trials) {
            const auto within = [&](const times_us& all) {
                times_us out;
                for (const std::int64_t t : all)
                    if (duration{t} >= trial.begin && duration{t} < trial.end)
                        out.push_back(t - trial.begin.count());
                return out;
            };
            const times_us before = within(from);
            const times_us after = within(to);
            outside -= before.size();
            ASSERT_EQ(before.size(), after.size());
            if (before.size() < 3 || trial.end > spikes.span().end) continue;
            // A single shift must explain all of them.
            int explained = 0;
            for (const std::int64_t landed : after) {
                const std::int64_t shift = (landed - before[0] + 500'000) % 500'000;
                times_us turned;
                for (const std::int64_t t : before) turned.push_back((t + shift) % 500'000);
                if (sorted(turned) != after) continue;
                ++explained;
                const std::int64_t small = shift > 250'000 ? shift - 500'000 : shift;
                EXPECT_LE(std::abs(small), 30'000);
                shifts.insert(small);
            }
            EXPECT_EQ(explained, 1);
        }
    }
    EXPECT_EQ(made.dropped, outside);
    EXPECT_EQ(made.merged, 0U);
    EXPECT_GT(shifts.size(), 60U);  // one shift per unit and trial
}

TEST(TrialShifting, ShiftsUniformly) {
    surrogate_options options{.method = trial_shifting, .dither = 15ms};
    options.trials = regular_trials({-3s, 9'997s}, 100ms, 0ms);
    EXPECT_LT(distance_from_uniform(displacements(options, 100'000), -15'000, 15'000),
              at_p_of_one_in_a_thousand);
}

TEST(TrialShifting, RefusesTrialsThatCannotBe) {
    const spike_sequence spikes = recording();
    const auto with = [&](std::vector<time_span> trials) {
        surrogate_maker(spikes, {.method = trial_shifting, .trials = std::move(trials)});
    };
    EXPECT_THROW(with({}), invalid_argument);
    EXPECT_THROW(with({{1s, 1s}}), invalid_argument);
    EXPECT_THROW(with({{1s, 2s}, {1'999ms, 3s}}), invalid_argument);
    EXPECT_THROW(with({{2s, 3s}, {0s, 1s}}), invalid_argument);
    EXPECT_NO_THROW(with({{0s, 1s}, {1s, 2s}}));
}

TEST(RegularTrials, AreAllThereUnlessElephantsAreAsked) {
    const time_span span{100ms, 22'420ms};  // the length of the published benchmark
    const auto all = regular_trials(span, 500ms, 200ms);
    const auto elephant = regular_trials(span, 500ms, 200ms, compatibility::elephant);

    ASSERT_EQ(all.size(), 32U);
    EXPECT_EQ(all.front(), (time_span{100ms, 600ms}));
    EXPECT_EQ(all.back(), (time_span{21'800ms, 22'300ms}));
    EXPECT_EQ(elephant, std::vector(all.begin(), all.end() - 1));
    EXPECT_EQ(regular_trials({0s, 1'400ms}, 500ms, 200ms).size(), 2U);
    EXPECT_EQ(regular_trials({0s, 1'401ms}, 500ms, 200ms).size(), 3U);
    EXPECT_TRUE(regular_trials({0s, 0s}, 500ms, 200ms).empty());
    EXPECT_THROW(regular_trials(span, 0ms, 200ms), invalid_argument);
    EXPECT_THROW(regular_trials(span, 1ms, -1ms), invalid_argument);
}

std::vector<std::uint32_t> bins_of(const binned_spikes& spikes) {
    const auto bins = spikes.bins(unit_id{0});
    return {bins.begin(), bins.end()};
}

TEST(BinShuffling, KeepsTheNumberOfEachBlock) {
    const spike_sequence spikes = recording();
    const binning_options bins{.bin = 4ms};
    const surrogate_options options{.method = bin_shuffling, .dither = 15ms};  // blocks of 6 bins
    const binned_spikes before = bin_spikes(spikes, bins).spikes;
    const binned_spikes after = make_binned_surrogate(spikes, bins, options, 0);
    for (std::uint32_t u = 0; u < 3; ++u) {
        const auto blocks = [&](const binned_spikes& of) {
            std::map<std::uint32_t, int> out;
            for (const std::uint32_t bin : of.bins(unit_id{u})) ++out[bin / 6];
            return out;
        };
        EXPECT_EQ(blocks(before), blocks(after));
        EXPECT_FALSE(std::ranges::equal(before.bins(unit_id{u}), after.bins(unit_id{u})));
    }
}

TEST(BinShuffling, MakesEveryOrderOfABlockEquallyLikely) {
    // Bins 0, 1 of a block of four, and bin 4 of a last block of two.
    const surrogate_maker maker(one_unit({0, 1'000, 1'500, 4'000}, {0ms, 6ms}),
                                {.method = bin_shuffling, .dither = 2ms}, {.bin = 1ms});
    std::map<std::vector<std::uint32_t>, int> seen;
    for (std::uint32_t s = 0; s < 12'000; ++s) ++seen[bins_of(maker.make(s))];
    EXPECT_EQ(seen.size(), 12U);
    for (const auto& [bins, count] : seen) EXPECT_NEAR(count, 1'000, 130);
}

// The reference permutes block after block, as the definition says.
TEST(BinShuffling, SlidesLikeBlocksPermutedOneAfterAnother) {
    const spike_sequence spikes = one_unit({0, 1'000, 5'000, 6'000}, {0us, 6'999us});
    const surrogate_options options{.method = bin_shuffling, .dither = 2ms, .sliding = true};
    const surrogate_maker maker(spikes, options, {.bin = 1ms});
    constexpr int cases = 20'000;
    std::map<std::vector<std::uint32_t>, int> ours;
    std::map<std::vector<std::uint32_t>, int> theirs;
    for (std::uint32_t s = 0; s < cases; ++s) {
        ++ours[bins_of(maker.make(s))];
        random_stream random(1, random_purpose::poisson_spikes, s);
        std::array<bool, 7> fired{true, true, false, false, false, true, true};
        for (std::size_t w = 0; w < 3; ++w)
            for (std::size_t left = 4; left > 1; --left)
                std::swap(fired[w + left - 1], fired[w + random.below(left)]);
        std::vector<std::uint32_t> bins;
        for (std::uint32_t b = 0; b < 7; ++b)
            if (fired[b]) bins.push_back(b);
        ++theirs[bins];
    }
    ASSERT_EQ(ours.size(), theirs.size());
    for (const auto& [bins, count] : theirs)
        EXPECT_NEAR(ours[bins], count, 5 * std::sqrt(2.0 * count) + 5);
}

TEST(BinShuffling, NeedsADitherOfABin) {
    const spike_sequence spikes = recording();
    const surrogate_options options{.method = bin_shuffling, .dither = 4ms};
    EXPECT_THROW(surrogate_maker(spikes, options, {.bin = 5ms}), invalid_argument);
    EXPECT_NO_THROW(surrogate_maker(spikes, options, {.bin = 4ms}));
}

TEST(SurrogateMethod, TakesEitherSpelling) {
    ASSERT_EQ(values_of<surrogate_method>().size(), 12U);
    for (const surrogate_method method : values_of<surrogate_method>()) {
        std::string name(to_string(method));
        EXPECT_EQ(value_named<surrogate_method>(name), method);
        std::replace(name.begin(), name.end(), '_', '-');
        EXPECT_EQ(value_named<surrogate_method>(name), method);
        std::replace(name.begin(), name.end(), '-', '_');
        EXPECT_EQ(value_named<surrogate_method>(name), method);
    }
    EXPECT_EQ(to_string(trial_shifting), "trial_shifting");
    EXPECT_EQ(to_string(interval_jitter), "interval-jitter");
    EXPECT_THROW(value_named<surrogate_method>("trial shifting"), invalid_argument);
}

// Inserts artificial gaps between the trials of the file.
std::vector<time_span> trials_between_gaps(const spike_sequence& spikes, duration gap) {
    std::vector<time_span> trials;
    for (const std::int64_t t : spikes.times_us()) {
        if (trials.empty() || duration{t} - trials.back().end > gap)
            trials.push_back({duration{t}, duration{t}});
        trials.back().end = duration{t + 1};
    }
    return trials;
}

// The share in % of binned spikes that surrogates lose because two fall into one bin: the table of
// docs/algorithms/surrogates.md. It was measured when the methods were written; the spread over
// seeds is below 0.1.
TEST(BinnedSurrogates, LoseSpikesToClippingInTheBenchmark) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    SPIKEWEAVE_NEEDS_SHARED_DATA("spade/movement_pghf.spikes.tsv.gz");
    const spike_sequence spikes =
        read_spikes(shared_data("spade/movement_pghf.spikes.tsv.gz")).spikes;
    const auto before = static_cast<double>(bin_spikes(spikes, {}).spikes.size());
    const std::map<surrogate_method, double> expected{
        {interval_jitter, 0.3},     {spike_dithering, 1.8},
        {dither_spikes, 4.9},       {dither_spikes_with_refractory_period, 0},
        {dither_spike_train, 0.1},  {jitter_spikes, 3.9},
        {randomise_spikes, 3.9},    {shuffle_isis, 0},
        {joint_isi_dithering, 0.2}, {isi_dithering, 0.2},
        {trial_shifting, 0},        {bin_shuffling, 0},
    };
    for (const auto& [method, lost] : expected) {
        const surrogate_options options{
            .method = method, .dither = 25ms, .trials = trials_between_gaps(spikes, 150ms)};
        const surrogate_maker maker(spikes, options, binning_options{});
        double kept = 0;
        for (std::uint32_t s = 0; s < 20; ++s)
            kept += static_cast<double>(maker.make(s).size()) / 20;
        EXPECT_NEAR(100 * (1 - kept / before), lost, 0.15) << to_string(method);
    }
}

}  // namespace
}  // namespace spikeweave
