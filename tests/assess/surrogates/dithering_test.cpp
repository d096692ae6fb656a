#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "assess/surrogates/surrogate_samples.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {

using namespace surrogate_samples;

namespace {

using namespace std::chrono_literals;
using enum surrogate_method;

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
        const spike_sequence spikes = units_with_dead_times(seed);
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
    const spike_sequence spikes = units_with_dead_times();
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

    const spike_sequence spikes = units_with_dead_times();
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
    const spike_sequence spikes = units_with_dead_times();
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

}  // namespace
}  // namespace spikeweave
