#include "spikeweave/assess/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "support/brute_force.hpp"
#include "support/random_streams.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

using timed_units = std::vector<std::pair<std::int64_t, unit_id>>;

spike_sequence recording_of(timed_units spikes, std::uint32_t units, duration length) {
    std::ranges::sort(spikes);
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < units; ++u) names.push_back(std::string(1, char('a' + u)));
    return sequence_of(std::move(spikes), std::move(names), {0us, length});
}

episode chain_of(std::uint32_t size, delay_interval delay) {
    episode out;
    for (std::uint32_t u = 0; u < size; ++u) out.units.push_back(unit_id{u});
    out.delays.assign(size - 1, delay);
    return out;
}

std::vector<time_span> every_second(int events, duration length) {
    std::vector<time_span> out;
    for (int e = 0; e < events; ++e) out.push_back({e * 1s + 100ms, e * 1s + 100ms + length});
    return out;
}

// Events of 200 ms in which six units fire at different rates, which rise at once and decay.
// `planted` of them hold the chain a to e instead, one step in `step` or backwards.
spike_sequence bursts(std::uint32_t seed, int events, int planted = 0, duration step = 0us,
                      double least_spikes = 1) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> decay(1 / 60e3);
    timed_units spikes;
    for (int e = 0; e < events; ++e) {
        const std::int64_t begin = (e * 1s + 100ms) / 1us;
        for (std::uint32_t u = 0; u < 6; ++u) {
            std::poisson_distribution<int> number(least_spikes + 0.4 * u);
            for (int n = number(random); n > 0; --n)
                spikes.emplace_back(
                    begin + std::min<std::int64_t>(199'999, std::int64_t(decay(random))),
                    unit_id{u});
            if (e < planted && u < 5)
                spikes.emplace_back(begin + 100'000 + (int(u) - 2) * step.count(), unit_id{u});
        }
    }
    return recording_of(std::move(spikes), 6, events * 1s);
}

replay_options quick(std::uint64_t seed, std::uint32_t shuffles = 99) {
    replay_options options{.scales = {0.05, 2, 8}};
    options.surrogates.surrogates = shuffles;
    options.surrogates.seed = seed;
    return options;
}

TEST(ReplayScales, AreEvenlySpacedInTheirLogarithm) {
    EXPECT_EQ((scale_grid{0.25, 4, 5}.values()), (std::vector<double>{0.25, 0.5, 1, 2, 4}));
    EXPECT_EQ((scale_grid{1, 1, 1}.values()), std::vector<double>{1});
    EXPECT_EQ(scale_grid{}.values().front(), 0.05);
    EXPECT_EQ(scale_grid{}.values().back(), 2);
    for (const scale_grid& bad : {scale_grid{0, 2, 3}, {2, 1, 3}, {1, 2, 1}, {1, 2, 0}})
        EXPECT_THROW(bad.values(), invalid_argument);
    EXPECT_EQ(option_codec<scale_grid>::read(std::string("0.1:3:7")), (scale_grid{0.1, 3, 7}));
    for (const char* const bad : {"", "1:2", "1:2:3:4", "a:2:3", "1:2:3.5"})
        EXPECT_THROW(option_codec<scale_grid>::read(std::string(bad)), invalid_argument);
}

TEST(ReplayScales, ScaleBothBoundsOfEveryDelay) {
    const episode chain{{unit_id{2}, unit_id{0}, unit_id{1}}, {{4us, 9us}, {0us, 2us}}};
    EXPECT_EQ(scaled_episode(chain, 0.5).delays,
              (std::vector<delay_interval>{{2us, 5us}, {0us, 1us}}));
    EXPECT_EQ(scaled_episode(chain, 0.05).delays,
              (std::vector<delay_interval>{{0us, 1us}, {0us, 1us}}));
    EXPECT_EQ(reversed_episode(chain),
              (episode{{unit_id{1}, unit_id{0}, unit_id{2}}, {{0us, 2us}, {4us, 9us}}}));
    EXPECT_THROW(scaled_episode(chain, 0), invalid_argument);
    EXPECT_THROW(scaled_episode(chain, 1e300), invalid_argument);
}

// Bounds times 3/2, to the nearest microsecond, halves up.
episode by_hand(const episode& chain, bool reverse) {
    episode out = chain;
    if (reverse) {
        std::ranges::reverse(out.units);
        std::ranges::reverse(out.delays);
    }
    for (delay_interval& delay : out.delays)
        delay = {duration{(3 * delay.low.count() + 1) / 2},
                 duration{(3 * delay.high.count() + 1) / 2}};
    return out;
}

TEST(ReplayCounts, AreThoseOfTheDefinition) {
    random_streams streams(7);
    std::uint64_t total = 0;
    for (int round = 0; round < 400; ++round) {
        const spike_sequence spikes = streams.spikes(25, 3);
        if (spikes.size() < 2 || spikes.span().length() < 2us) continue;
        const episode chain = streams.episode(2 + streams.below(3), 3);
        const duration half = spikes.span().begin + spikes.span().length() / 2;
        const std::vector<time_span> events{{spikes.span().begin, half},
                                            {half, spikes.span().end + 1us}};
        replay_options options = quick(1, 1);
        options.scales = {1.5, 1.5, 1};
        options.ties = round % 2 == 0 ? tie_rule::time : tie_rule::order;
        options.surrogates.dither = 2us;
        for (const replay_null null : {replay_null::identities, replay_null::surrogates}) {
            options.null = null;
            const replay_scores scores = test_replay(spikes, std::span(&chain, 1), events, options);
            ASSERT_EQ(scores.tests.size(), 2);
            for (const replay_test& test : scores.tests) {
                const episode wanted = by_hand(chain, test.direction == replay_direction::reverse);
                std::uint64_t count = 0;
                if (null == replay_null::surrogates)
                    count = brute_force(spikes, wanted, options.ties).count();
                for (const time_span& event : events)
                    if (null == replay_null::identities)
                        count += brute_force(within_epochs(spikes, std::span(&event, 1)), wanted,
                                             options.ties)
                                     .count();
                ASSERT_EQ(test.count, count) << round;
                total += count;
            }
        }
    }
    EXPECT_GT(total, 500);
}

// The share of all orders with at most as many wrongly ordered pairs.
double share_of_orders(const std::vector<int>& order) {
    const auto wrong = [](const std::vector<int>& one) {
        int pairs = 0;
        for (std::size_t i = 0; i < one.size(); ++i)
            for (std::size_t k = i + 1; k < one.size(); ++k) pairs += one[i] > one[k] ? 1 : 0;
        return pairs;
    };
    std::vector<int> other(order.size());
    std::iota(other.begin(), other.end(), 0);
    double as_close = 0;
    double all = 0;
    do {
        as_close += wrong(other) <= wrong(order) ? 1 : 0;
        ++all;
    } while (std::ranges::next_permutation(other).found);
    return as_close / all;
}

TEST(ReplayOrder, HasTheShareOfAllOrders) {
    std::mt19937_64 random(3);
    for (std::uint32_t size = 3; size <= 6; ++size) {
        timed_units spikes;
        std::vector<std::vector<int>> orders;
        for (int e = 0; e < 30; ++e) {
            std::vector<int> order(size);
            std::iota(order.begin(), order.end(), 0);
            std::ranges::shuffle(order, random);
            for (std::uint32_t u = 0; u < size; ++u)
                spikes.emplace_back(duration(e * 1s + 110ms + order[u] * 1ms).count(), unit_id{u});
            orders.push_back(order);
        }
        const episode chain = chain_of(size, {0ms, 5ms});
        const auto scores = test_replay(recording_of(spikes, size, 30s), std::span(&chain, 1),
                                        every_second(30, 50ms), quick(1, 9));
        ASSERT_EQ(scores.events.size(), 30);
        std::size_t significant = 0;
        for (std::size_t e = 0; e < 30; ++e) {
            const replay_event& event = scores.events[e];
            EXPECT_EQ(event.active, size);
            EXPECT_NEAR(event.p_forward, share_of_orders(orders[e]), 1e-12);
            std::vector<int> reversed(orders[e].rbegin(), orders[e].rend());
            EXPECT_NEAR(event.p_reverse, share_of_orders(reversed), 1e-12);
            significant += event.p_forward <= 0.05 ? 1 : 0;
        }
        EXPECT_EQ(scores.tests[0].significant, significant);
    }
}

TEST(ReplayOrder, ExpectsWhatCanBeReached) {
    // Of the 24 orders of four units one has no wrong pair; the four with at most one are 1/6.
    const episode chain = chain_of(4, {0ms, 5ms});
    timed_units spikes;
    for (int e = 0; e < 8; ++e)
        for (std::uint32_t u = 0; u < 4; ++u)
            spikes.emplace_back(duration(e * 1s + 110ms + (e < 2 ? u : 4 - u) * 1ms).count(),
                                unit_id{u});
    const auto scores = test_replay(recording_of(spikes, 4, 8s), std::span(&chain, 1),
                                    every_second(8, 50ms), quick(1, 9));
    EXPECT_EQ(scores.tests[0].significant, 2);
    EXPECT_EQ(scores.tests[1].significant, 6);
    EXPECT_NEAR(scores.tests[0].expected_significant, 8.0 / 24, 1e-12);
    const double none = std::pow(23.0 / 24, 8);
    EXPECT_NEAR(scores.tests[0].events_p, 1 - none - 8 * none / 23, 1e-9);
}

TEST(ReplayOrder, CountsSimultaneousSpikesAgainstBothDirections) {
    const episode chain = chain_of(3, {0ms, 5ms});
    timed_units spikes;
    for (std::uint32_t u = 0; u < 3; ++u) spikes.emplace_back(110'000, unit_id{u});
    const auto scores = test_replay(recording_of(spikes, 3, 1s), std::span(&chain, 1),
                                    every_second(1, 50ms), quick(1, 9));
    EXPECT_EQ(scores.events.at(0).tau, 0);
    EXPECT_EQ(scores.events.at(0).p_forward, 1);
    EXPECT_EQ(scores.events.at(0).p_reverse, 1);
}

TEST(Replay, FindsFastAndReverseOccurrences) {
    const episode chain = chain_of(5, {40ms, 80ms});
    for (const bool reverse : {false, true}) {
        const duration step = reverse ? -6ms : 6ms;  // a tenth of the delays
        const auto scores = test_replay(bursts(1, 80, 30, step, 0.1), std::span(&chain, 1),
                                        every_second(80, 200ms), quick(1, 199));
        const replay_test& there = scores.tests[reverse ? 1 : 0];
        const replay_test& other = scores.tests[reverse ? 0 : 1];
        EXPECT_LE(there.q, 0.05);
        EXPECT_GT(there.scale, 0.07);
        EXPECT_LT(there.scale, 0.16);
        EXPECT_GE(there.count, 30);
        EXPECT_LT(there.expected, 10);
        EXPECT_LT(there.events_q, 0.01);
        EXPECT_GT(other.q, 0.05);
        EXPECT_GT(other.events_q, 0.05);
    }
}

// The binomial bounds are passed by chance less than once in a thousand.
TEST(Replay, IsCalibratedWithoutReplay) {
    constexpr int recordings = 150;
    const episode chain = chain_of(4, {0ms, 60ms});
    std::array<int, 4> below_fifth{};
    for (std::uint32_t seed = 0; seed < recordings; ++seed) {
        const spike_sequence spikes = bursts(100 + seed, 40);
        const auto scores =
            test_replay(spikes, std::span(&chain, 1), every_second(40, 200ms), quick(seed, 19));
        for (std::size_t d = 0; d < 2; ++d) {
            below_fifth[d] += scores.tests[d].p <= 0.2 ? 1 : 0;
            below_fifth[2 + d] += scores.tests[d].events_p <= 0.2 ? 1 : 0;
        }
    }
    EXPECT_GE(below_fifth[0] + below_fifth[1], 35);
    for (const int count : below_fifth) EXPECT_LE(count, 46);
}

TEST(Replay, DoesNotDependOnThreads) {
    const std::vector<episode> chains{chain_of(4, {0ms, 60ms}), chain_of(3, {1ms, 40ms})};
    const spike_sequence spikes = bursts(5, 20);
    for (const replay_null null : {replay_null::identities, replay_null::surrogates}) {
        replay_options options = quick(3, 40);
        options.null = null;
        const auto events = every_second(20, 200ms);
        const auto one = test_replay(spikes, chains, events, options, {.threads = 1});
        const auto three = test_replay(spikes, chains, events, options, {.threads = 3});
        for (std::size_t i = 0; i < one.tests.size(); ++i) {
            EXPECT_EQ(one.tests[i].p, three.tests[i].p);
            EXPECT_EQ(one.tests[i].expected, three.tests[i].expected);
            EXPECT_EQ(one.tests[i].events_p, three.tests[i].events_p);
        }
        options.surrogates.seed = 4;
        const auto other = test_replay(spikes, chains, events, options);
        EXPECT_NE(one.tests[0].expected, other.tests[0].expected);
    }
}

TEST(Replay, RefusesWhatCannotBeTested) {
    const spike_sequence spikes = bursts(5, 3);
    const std::vector<time_span> events = every_second(3, 200ms);
    const std::vector<episode> chains{chain_of(3, {1ms, 4ms})};
    const std::vector<episode> single{chain_of(1, {})};
    const std::vector<episode> unknown{chain_of(9, {1ms, 4ms})};
    EXPECT_THROW(test_replay(spikes, {}, events), invalid_argument);
    EXPECT_THROW(test_replay(spikes, single, events), invalid_argument);
    EXPECT_THROW(test_replay(spikes, unknown, events), invalid_argument);
    EXPECT_THROW(test_replay(spikes, chains, {}), invalid_argument);
    EXPECT_THROW(test_replay(spikes, chains, events, {.alpha = 0}), invalid_argument);
    EXPECT_THROW(test_replay(spikes, chains, events, {.surrogates = {.surrogates = 0}}),
                 invalid_argument);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(test_replay(spikes, chains, events, {}, {.stop = stop.get_token()}), cancelled);
}

TEST(PopulationEvents, AreWhereManyUnitsFire) {
    timed_units spikes;
    for (std::uint32_t u = 0; u < 6; ++u)
        for (int i = 0; i < 60; ++i) spikes.emplace_back(i * 1'000'000 + u * 150'000, unit_id{u});
    for (const std::int64_t at : {10'400'000, 30'400'000, 50'400'000})
        for (std::uint32_t u = 0; u < 6; ++u)
            for (int i = 0; i < 8; ++i)
                spikes.emplace_back(at + 12'000 * i + 1'000 * u, unit_id{u});
    const spike_sequence all = recording_of(spikes, 6, 60s);
    const auto found = find_population_events(all);
    ASSERT_EQ(found.size(), 3);
    EXPECT_NEAR(to_seconds(found[0].begin), 10.4, 0.035);
    EXPECT_NEAR(to_seconds(found[0].end), 10.49, 0.035);
    EXPECT_TRUE(find_population_events(all, {.shortest = 500ms}).empty());
    EXPECT_TRUE(find_population_events(all, {.threshold = 90}).empty());
    EXPECT_TRUE(find_population_events(all, {.longest = 60ms}).empty());
    EXPECT_THROW(find_population_events(all, {.shortest = 2s}), invalid_argument);
    EXPECT_TRUE(find_population_events(spike_sequence{}).empty());

    // The second one is cut by the end of an epoch.
    const std::vector<time_span> epochs{{5s, 30'450ms}, {40s, 60s}};
    const auto cut = find_population_events(within_epochs(all, epochs), {.shortest = 20ms});
    ASSERT_EQ(cut.size(), 3);
    EXPECT_EQ(cut[1].end, 30'450ms);
}

}  // namespace
}  // namespace spikeweave
