#include "live/triggers/chance_monitor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "live/session/session.hpp"
#include "live/triggers/false_alarm_limit.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/independent_spikes.hpp"
#include "support/live_sinks.hpp"

namespace spikeweave::live {
namespace {

constexpr auto second = std::chrono::seconds{1};
constexpr std::int64_t us_per_second = 1'000'000;

const episode pair_of_units{{unit_id{3}, unit_id{1}},
                            {{std::chrono::milliseconds{4}, std::chrono::milliseconds{6}}}};
const episode triple{{unit_id{3}, unit_id{1}, unit_id{0}},
                     {pair_of_units.delays[0], pair_of_units.delays[0]}};

spike_sequence spikes_of(std::vector<std::pair<std::int64_t, unit_id>> spikes, time_span span) {
    return sequence_of(std::move(spikes), {"a", "b", "c", "d"}, span);
}

TEST(ExpectedByChance, IsThatOfTheModel) {
    independent_spikes draw(1, 4, 20);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (int i = 0; i < 2'000; ++i) all.push_back(draw.next());
    const spike_sequence spikes = spikes_of(all, {duration{0}, 60 * second});
    const armed_patterns patterns{duration{5'000}, {{{unit_id{0}, 0}, {unit_id{2}, 3}}}};

    const auto expected =
        expected_by_chance(spikes, std::vector<armed_episode>{{triple}, {triple, 2}}, patterns);

    ASSERT_EQ(expected.size(), 3U);
    const duration tick = std::chrono::milliseconds{1};
    EXPECT_EQ(expected[0], independent_model(spikes, triple, tick).expected_count());
    EXPECT_EQ(expected[1], independent_model(spikes, pair_of_units, tick).expected_count());
    // The share of bins with a spike, at any offset of the bins.
    const auto share = [&](std::uint32_t unit) {
        std::int64_t covered = 0, until = 0;
        for (const auto& [time, of] : all) {
            if (of != unit_id{unit}) continue;
            covered += time - std::max(until, time - 5'000);
            until = time;
        }
        return static_cast<double>(covered) / 60e6;
    };
    EXPECT_NEAR(expected[2], 60 / 0.005 * share(0) * share(2), 1e-3 * expected[2]);
}

TEST(ChanceMonitor, MeasuresOneIntervalAfterAnother) {
    independent_spikes draw(2, 4, 30);
    const std::vector<armed_episode> armed{{pair_of_units}};
    chance_monitor monitor(armed, {}, 4, second);
    std::vector<std::vector<std::pair<std::int64_t, unit_id>>> intervals(1);
    std::int64_t begin = 0;
    for (int i = 0; i < 1'000; ++i) {
        auto [time, unit] = draw.next();
        if (i > 500) time += 10 * us_per_second;  // a silence
        if (i == 0) begin = time;
        const auto number = static_cast<std::size_t>((time - begin) / us_per_second);
        EXPECT_EQ(monitor.add(time, unit), number >= intervals.size());
        intervals.resize(number + 1);
        intervals.back().emplace_back(
            time - begin - static_cast<std::int64_t>(number) * us_per_second, unit);
        if (number == 1 && intervals[1].size() == 1) {
            EXPECT_EQ(monitor.last().begin_us, begin);
            EXPECT_EQ(monitor.last().end_us, begin + us_per_second);
            EXPECT_EQ(monitor.last().per_minute[0], 60 * monitor.expected()[0]);
        }
    }
    monitor.end_epoch();

    double expected = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const std::int64_t length =
            i + 1 < intervals.size() ? us_per_second : intervals[i].back().first + 1;
        expected += expected_by_chance(spikes_of(intervals[i], {duration{0}, duration{length - 1}}),
                                       armed, {})[0];
    }
    EXPECT_GT(expected, 0);
    EXPECT_NEAR(monitor.expected()[0], expected, 1e-9 * expected);
    EXPECT_NEAR(60 * monitor.minutes(),
                static_cast<double>(intervals.size()) - 1 +
                    static_cast<double>(intervals.back().back().first + 1) / 1e6,
                1e-9);
    EXPECT_FALSE(monitor.add(-5, unit_id{9})) << "a new epoch, and a unit that is not armed";
}

TEST(ChanceMonitor, TakesAnyTimes) {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    chance_monitor monitor(std::vector<armed_episode>{{pair_of_units}}, {}, 4, second);
    EXPECT_FALSE(monitor.add(least, unit_id{1}));
    EXPECT_TRUE(monitor.add(most, unit_id{3}));
    monitor.end_epoch();
    EXPECT_TRUE(std::isfinite(monitor.expected()[0]));
}

TEST(FalseAlarmLimit, NamesWhatIsExpectedTooOften) {
    false_alarm_limit limit({{pair_of_units}},
                            {duration{5'000}, {{{unit_id{0}, 0}, {unit_id{2}, 2}}}},
                            parse_rate("2/min"));
    limit.take(units_added{std::vector<std::string>{"a", "b 1", "c", "d"}});

    limit.check(std::vector{2.0, 2.0});
    EXPECT_EQ(text_of([&] {
                  limit.take(chance_rates{0, 1, {2.0001, 0}});
              }),
              "`max_false_alarms`: the episode d 4-6ms \"b 1\" is expected 2 times a minute by "
              "chance, which is more than 2/min");
    limit.take(chance_rates{1, 2, {9, 9}});  // only the first measurement counts
    EXPECT_EQ(text_of([&] {
                  limit.check(std::vector{0.0, 12.34});
              }),
              "`max_false_alarms`: the pattern a →10ms→ c is expected 12.3 times a minute by "
              "chance, which is more than 2/min");
}

// Where units fire independently, there are as many detections as are said to be expected: their
// number lies within the interval that 99 % of Poisson numbers with this mean do.
TEST(ChanceMonitor, SaysHowManyFalseAlarmsThereAre) {
    constexpr std::int64_t minutes = 20;
    for (const std::uint64_t seed : {1, 2, 3}) {
        independent_spikes draw(seed, 50, 10);
        session_options options{.patterns = {.bin = duration{5'000}}};
        for (int i = 0; i < 100; ++i) options.armed.push_back({draw.chain(4)});
        for (int i = 0; i < 20; ++i) options.patterns.patterns.push_back(draw.pattern(3));
        std::vector<std::string> names;
        for (int i = 0; i < 50; ++i) names.push_back(std::to_string(i));
        tallied_results results;
        session live(names, options, results);

        for (source_block block;
             block.spikes.empty() || block.spikes.back().time_us < minutes * 60 * us_per_second;) {
            block.spikes.clear();
            for (int i = 0; i < 1'000; ++i) {
                const auto [time, unit] = draw.next();
                block.spikes.push_back({time, unit});
            }
            live.take(block);
        }
        live.finish();

        double detected = 0, expected = 0;
        for (const armed_tally& one : results.tallies) {
            detected += static_cast<double>(one.detected);
            expected += one.expected;
        }
        EXPECT_GT(expected, 10);
        EXPECT_NEAR(detected, expected, 2.576 * std::sqrt(expected)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace spikeweave::live
