#include "spikeweave/mine/bursts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stop_token>
#include <string>
#include <tuple>

#include "naive_bursts.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

using timed_units = std::vector<std::pair<std::int64_t, unit_id>>;

spike_sequence sequence_with(timed_units spikes, std::uint32_t units, duration length) {
    std::ranges::sort(spikes);
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < units; ++u) names.push_back(std::to_string(u));
    return sequence_of(std::move(spikes), std::move(names), {0us, length});
}

// Units with spikes at these times in milliseconds.
spike_sequence at_ms(const std::vector<std::vector<double>>& units, duration length = 10s) {
    timed_units spikes;
    for (std::uint32_t u = 0; u < units.size(); ++u)
        for (const double ms : units[u])
            spikes.emplace_back(static_cast<std::int64_t>(1000 * ms), unit_id{u});
    return sequence_with(std::move(spikes), static_cast<std::uint32_t>(units.size()), length);
}

// Begin, end and spikes of each burst, in whole milliseconds.
using burst_facts = std::vector<std::tuple<std::int64_t, std::int64_t, std::uint64_t>>;
burst_facts facts_of(const std::vector<unit_burst>& bursts) {
    burst_facts out;
    for (const unit_burst& one : bursts)
        out.emplace_back(one.begin / 1ms, one.end / 1ms, one.spikes);
    return out;
}

TEST(MaxInterval, BeginsBelowOneIntervalAndEndsAboveAnother) {
    // Intervals: 170, 169, 300, 301.
    EXPECT_EQ(facts_of(mine_bursts(at_ms({{100, 270, 439, 739, 1040}})).bursts),
              (burst_facts{{270, 739, 3}}));
}

TEST(MaxInterval, JoinsBurstsThatAreNear) {
    const spike_sequence spikes = at_ms({{0, 50, 100, 500, 550, 600, 1000, 1050, 1100}});
    burst_options options{.end_interval = 250ms, .min_separation = 400ms};
    options.begin_interval = 100ms;
    EXPECT_EQ(mine_bursts(spikes, options).bursts.size(), 3U);  // 400 ms apart
    options.min_separation = 401ms;
    EXPECT_EQ(facts_of(mine_bursts(spikes, options).bursts), (burst_facts{{0, 1100, 9}}));
}

TEST(MaxInterval, LeavesOutShortAndSmallBursts) {
    const spike_sequence spikes = at_ms({{0, 5, 10, 1000, 1005, 1009, 2000, 2100}});
    EXPECT_EQ(facts_of(mine_bursts(spikes).bursts), (burst_facts{{0, 10, 3}}));
    EXPECT_EQ(facts_of(mine_bursts(spikes, {.min_spikes = 2, .min_duration = 0ms}).bursts),
              (burst_facts{{0, 10, 3}, {1000, 1009, 3}, {2000, 2100, 2}}));
}

TEST(MaxInterval, LastsUntilTheEndOfTheRecording) {
    EXPECT_EQ(facts_of(mine_bursts(at_ms({{0, 50, 100, 9900, 9950, 10000}})).bursts),
              (burst_facts{{0, 100, 3}, {9900, 10000, 3}}));
}

TEST(Bursts, EndWithTheirEpoch) {
    const spike_sequence spikes =
        within_epochs(at_ms({{0, 100, 200, 300, 400, 500, 600, 700}}),
                      std::vector<time_span>{{50ms, 300ms}, {300ms, 600ms}});
    const mined_bursts found = mine_bursts(spikes, {.min_spikes = 2});
    EXPECT_EQ(facts_of(found.bursts), (burst_facts{{100, 200, 2}, {300, 500, 3}}));
    EXPECT_FALSE(found.bursts[1].interval);
}

TEST(Bursts, AreSummarisedForEachUnit) {
    // Bursts of 3 spikes in 100 ms, 5 in 100 ms and 3 in 400 ms; intervals of 900 ms and 2.9 s.
    const mined_bursts found = mine_bursts(
        at_ms({{0, 50, 100, 1000, 1025, 1050, 1075, 1100, 2500, 4000, 4150, 4400}, {7}, {}}));
    const unit_bursting& one = found.units[0];
    EXPECT_EQ((std::tuple(one.spikes, one.bursts, one.spikes_in_bursts)), (std::tuple(12, 3, 11)));
    EXPECT_DOUBLE_EQ(*one.mean_duration_s, 0.2);
    EXPECT_DOUBLE_EQ(*one.mean_rate_hz, (20 + 40 + 5) / 3.0);
    EXPECT_DOUBLE_EQ(*one.mean_interval_s, 1.9);
    EXPECT_DOUBLE_EQ(*one.interval_variation, std::sqrt(2.0) / 1.9);
    // Intervals of 50, 50, 900, 25, 25, 25, 25, 1400, 1500, 150 and 250 ms.
    EXPECT_NEAR(*one.spike_variation, 1.44752, 1e-5);
    EXPECT_EQ(found.units[1],
              (unit_bursting{.spikes = 1, .rate_hz = 0.1, .longest_interval = 300ms}));
    EXPECT_EQ(found.units[2], (unit_bursting{.longest_interval = 300ms}));
    EXPECT_EQ(found.bursts[2].interval, 2'900ms);
}

TEST(LogIsi, FindsBurstsInFastFiring) {
    // Four spikes 4 ms apart in each second of a unit that fires every 80 to 120 ms.
    std::mt19937_64 random(1);
    std::vector<double> spikes;
    for (int second = 0; second < 60; ++second) {
        double at = 1000.0 * second + 100;
        for (; at < 1000.0 * second + 800; at += 80 + double(random() % 40)) spikes.push_back(at);
        for (int i = 0; i < 4; ++i) spikes.push_back(1000.0 * second + 900 + 4 * i);
    }
    const spike_sequence train = at_ms({spikes}, 60s);
    const mined_bursts found = mine_bursts(train, {.method = burst_method::log_isi});
    ASSERT_EQ(found.bursts.size(), 60U);
    EXPECT_EQ(facts_of(found.bursts)[7], (std::tuple(7900, 7912, 4)));
    EXPECT_LT(*found.units[0].longest_interval, 80ms);
    EXPECT_LT(mine_bursts(train).bursts.size(), 5U);  // all of it is a burst of 300 ms
}

TEST(LogIsi, FindsNoneWithoutShortIntervals) {
    const mined_bursts found =
        mine_bursts(at_ms({{0, 200, 400, 600, 800}}), {.method = burst_method::log_isi});
    EXPECT_TRUE(found.bursts.empty());
    EXPECT_FALSE(found.units[0].longest_interval);
}

TEST(NetworkBursts, TakeEnoughUnitsAtTheSameTime) {
    // Four units burst for 100 ms, each 20 ms after the one before.
    std::vector<std::vector<double>> units;
    for (int u = 0; u < 4; ++u) units.push_back({20.0 * u, 20.0 * u + 50, 20.0 * u + 100});
    units.push_back({5, 5000});
    mined_bursts found = mine_bursts(at_ms(units));
    EXPECT_EQ(found.units_of_network, 3U);
    ASSERT_EQ(found.network.size(), 1U);
    EXPECT_EQ(found.network[0].begin, 40ms);
    EXPECT_EQ(found.network[0].end, 120ms);
    EXPECT_EQ(found.network[0].participating, 4U);
    EXPECT_EQ(found.network[0].spikes, 8U);  // at 40, 50, 60, 70, 90, 100, 110 and 120 ms
    EXPECT_EQ(found.network[0].peak_rate_hz, 100);
    for (const unit_burst& one : found.bursts) EXPECT_EQ(one.network, 0U);
    found = mine_bursts(at_ms(units), {.network_share = 0.9});
    EXPECT_EQ(found.units_of_network, 5U);
    EXPECT_TRUE(found.network.empty());
}

TEST(NetworkBursts, CountTheMostSpikesInTenMilliseconds) {
    std::vector<std::vector<double>> units(3, {0, 50, 100});
    units.push_back({41, 42, 43, 44, 51});
    const mined_bursts found = mine_bursts(at_ms(units));
    ASSERT_EQ(found.network.size(), 1U);
    EXPECT_EQ(found.network[0].peak_rate_hz, 700);  // from 41 ms to before 51 ms
}

TEST(Bursts, AreNoneOfNothing) {
    const mined_bursts found = mine_bursts(at_ms({}));
    EXPECT_TRUE(found.bursts.empty() && found.units.empty() && found.network.empty());
    EXPECT_TRUE(mine_bursts(at_ms({{}, {}})).bursts.empty());
}

TEST(Bursts, RefuseOptionsOutOfRange) {
    const spike_sequence spikes = at_ms({{0}});
    EXPECT_THROW(mine_bursts(spikes, {.min_spikes = 1}), invalid_argument);
    EXPECT_THROW(mine_bursts(spikes, {.begin_interval = 301ms}), invalid_argument);
    EXPECT_THROW(mine_bursts(spikes, {.network_share = 0}), invalid_argument);
}

TEST(Bursts, StopOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(mine_bursts(at_ms({{0, 1, 2}}), {}, {.stop = stop.get_token()}), cancelled);
}

// Spikes whose intervals are drawn around the options, so that all bounds are met exactly.
spike_sequence drawn_trains(std::mt19937_64& random, std::int64_t scale, duration length) {
    const auto units = static_cast<std::uint32_t>(random() % 9);
    timed_units spikes;
    for (std::uint32_t u = 0; u < units; ++u) {
        if (random() % 8 == 0) continue;  // no spike
        auto at = static_cast<std::int64_t>(random() % 30) * scale;
        for (std::uint64_t n = random() % 60; n > 0 && at <= length.count(); --n) {
            spikes.emplace_back(at, unit_id{u});
            at += scale * std::int64_t(random() % 4 == 0 ? 1 + random() % 40 : 1 + random() % 8);
        }
    }
    spike_sequence out = sequence_with(std::move(spikes), units, length);
    if (random() % 3 != 0) return out;
    return within_epochs(
        out, std::vector<time_span>{
                 {length / 10, length / 3}, {length / 3, length / 2}, {2 * length / 3, length}});
}

void compare_with_naive(const spike_sequence& spikes, const burst_options& options,
                        bool with_network) {
    for (const int threads : {1, 3}) {
        const mined_bursts found = mine_bursts(spikes, options, {.threads = threads});
        std::vector<unit_burst> expected;
        for (std::uint32_t u = 0; u < spikes.unit_count(); ++u) {
            const auto own = naive::bursts_of(spikes, u, options);
            expected.insert(expected.end(), own.begin(), own.end());
            std::uint64_t inside = 0;
            for (const unit_burst& one : own) inside += one.spikes;
            EXPECT_EQ(found.units[u].spikes_in_bursts, inside);
            EXPECT_EQ(found.units[u].bursts, own.size());
        }
        std::ranges::sort(expected, {},
                          [](const unit_burst& one) { return std::tuple(one.begin, one.unit); });
        std::vector<unit_burst> without = found.bursts;
        if (with_network)
            ASSERT_EQ(found.network, naive::network_of(spikes, expected, options));
        else
            for (unit_burst& one : without) one.network.reset();
        ASSERT_EQ(without, expected);
    }
}

TEST(Bursts, AreThoseOfThePlainDefinition) {
    std::mt19937_64 random(7);
    std::size_t network = 0;
    for (int i = 0; i < 3'000; ++i) {
        const spike_sequence spikes = drawn_trains(random, 1, 400us);
        const burst_options options{.min_spikes = 2 + std::uint32_t(random() % 3),
                                    .begin_interval = duration{3 + random() % 6},
                                    .end_interval = duration{8 + random() % 12},
                                    .min_separation = duration{random() % 14},
                                    .min_duration = duration{random() % 12},
                                    .network_share = 0.1 * double(1 + random() % 9)};
        SCOPED_TRACE(i);
        compare_with_naive(spikes, options, true);
        if (HasFailure()) return;
        network += mine_bursts(spikes, options).network.size();
    }
    EXPECT_GT(network, 1'500U);
}

TEST(LogIsi, IsThatOfThePlainDefinition) {
    std::mt19937_64 random(8);
    std::size_t bursts = 0;
    for (int i = 0; i < 2'000; ++i) {
        const spike_sequence spikes = drawn_trains(random, 1 + int(random() % 40'000), 60s);
        const burst_options options{.method = burst_method::log_isi,
                                    .min_spikes = 2 + std::uint32_t(random() % 4),
                                    .core_interval = duration{2'000 + random() % 200'000}};
        SCOPED_TRACE(i);
        compare_with_naive(spikes, options, false);
        if (HasFailure()) return;
        bursts += mine_bursts(spikes, options).bursts.size();
    }
    EXPECT_GT(bursts, 3'000U);
}

}  // namespace
}  // namespace spikeweave
