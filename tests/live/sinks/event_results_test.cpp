#include "live/sinks/event_results.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spikeweave::live {
namespace {

episode pair_with_events(std::uint32_t first, std::uint32_t second) {
    return {{unit_id{first}, unit_id{second}}, {{duration{0}, duration{5'000}}}};
}

TEST(EventResults, GivesEachResultAsAValueWithNames) {
    std::vector<live_event> events;
    const armed_patterns patterns{duration{5'000}, {{{unit_id{1}, 0}, {unit_id{0}, 2}}}};
    event_results results({{pair_with_events(0, 1)}}, patterns,
                          [&](live_event event) { events.push_back(std::move(event)); });
    results.take(units_added{std::vector<std::string>{"n10", "n2"}});
    const std::vector<std::int64_t> times{-4, 3};

    results.take(detection{.armed = 0, .begin_us = -4, .end_us = 3, .times_us = times});
    results.take(detection{.armed = 1,
                           .begin_us = -5'000,
                           .end_us = 3,
                           .times_us = times,
                           .suppressed = suppression::hold_off});
    results.take(mined_window{
        {{.number = -1, .begin = duration{-10}, .end = duration{0}},
         3,
         {.episodes = {{pair_with_events(0, 1), 2}, {pair_with_events(1, 0), 1}}, .threshold = 1}},
        true});
    results.take(units_added{std::vector<std::string>{"n3"}});
    results.take(mined_window{.mined = {{.number = 0, .begin = duration{0}, .end = duration{10}},
                                        0,
                                        {.complete_to_size = 0}},
                              .epoch = 2});
    results.take(counts_in_window{{duration{0}, duration{10}}, std::vector<std::uint64_t>{4}});
    results.take(chance_rates{0, 10, {0.5, 2}});
    results.take(epoch_ended{});
    results.take(epoch_ended{});
    results.take(session_ended{{}});

    ASSERT_EQ(events.size(), 8U);
    const auto& detected = std::get<live_detection>(events[0]);
    EXPECT_FALSE(detected.is_pattern);
    EXPECT_EQ(detected.units, (std::vector<std::string>{"n10", "n2"}));
    EXPECT_EQ(detected.times_us, times);
    EXPECT_EQ(detected.begin_us, -4);
    EXPECT_EQ(detected.suppressed, "");
    const auto& suppressed = std::get<live_detection>(events[1]);
    EXPECT_TRUE(suppressed.is_pattern);
    EXPECT_EQ(suppressed.number, 0U);
    EXPECT_EQ(suppressed.units, (std::vector<std::string>{"n2", "n10"}));
    EXPECT_EQ(suppressed.begin_us, -5'000);
    EXPECT_EQ(suppressed.suppressed, "hold-off");
    const auto& window = std::get<live_window>(events[2]);
    EXPECT_EQ(window.mined.bounds.number, -1);
    EXPECT_EQ(window.mined.spikes, 3U);
    EXPECT_TRUE(window.has_gap);
    EXPECT_FALSE(window.is_skipped());
    EXPECT_EQ(*window.unit_names, (std::vector<std::string>{"n10", "n2"}));
    // By the names of their units, as in lines of JSON.
    EXPECT_EQ(
        window.mined.table.episodes,
        (std::vector<counted_episode>{{pair_with_events(1, 0), 1}, {pair_with_events(0, 1), 2}}));
    const auto& later = std::get<live_window>(events[3]);
    EXPECT_EQ(*later.unit_names, (std::vector<std::string>{"n10", "n2", "n3"}));
    EXPECT_FALSE(later.has_gap);
    EXPECT_TRUE(later.is_skipped());
    EXPECT_EQ(later.epoch, 2U);
    EXPECT_EQ(std::get<live_counts>(events[4]).counts, (std::vector<std::uint64_t>{4}));
    EXPECT_EQ(std::get<live_chance>(events[5]).per_minute, (std::vector<double>{0.5, 2}));
    EXPECT_EQ(std::get<live_epoch>(events[6]).number, 1U);
    EXPECT_EQ(std::get<live_epoch>(events[7]).number, 2U);
}

TEST(EventResults, TellsWhatIsArmedAndWhatWasToldBeforeOnlyInDetections) {
    std::vector<live_event> events;
    event_results results({{pair_with_events(0, 1)}}, {},
                          [&](live_event event) { events.push_back(std::move(event)); });
    results.take(units_added{std::vector<std::string>{"a", "b"}});
    arming_change change{.window = 7, .due = {3, 10}, .from = {3, 12}, .is_late = true};
    change.armed = {{1, pair_with_events(1, 0), 0.5}};
    change.was_told = true;

    results.take(change);
    ASSERT_TRUE(events.empty());
    change.was_told = false;
    change.armed = {{2, pair_with_events(1, 1), 2}};
    change.disarmed = {1};
    change.refused = {{pair_with_events(0, 0), 4, true}, {pair_with_events(0, 1), 5, false}};
    results.take(change);
    results.take(detection{.armed = 2, .times_us = std::vector<std::int64_t>{1, 2}});

    ASSERT_EQ(events.size(), 5U);
    const auto& armed = std::get<live_arming>(events[0]);
    EXPECT_EQ(armed.change, "armed");
    EXPECT_EQ(armed.number, 2U);
    EXPECT_EQ(armed.units, (std::vector<std::string>{"b", "b"}));
    EXPECT_EQ(armed.delays, (std::vector<delay_interval>{{duration{0}, duration{5'000}}}));
    EXPECT_EQ(armed.from_us, 12);
    EXPECT_EQ(armed.window, 7);
    EXPECT_EQ(armed.window_epoch, 3U);
    EXPECT_TRUE(armed.is_late);
    EXPECT_EQ(armed.per_minute, 2.0);
    const auto& disarmed = std::get<live_arming>(events[1]);
    EXPECT_EQ(disarmed.change, "disarmed");
    EXPECT_EQ(disarmed.number, 1U);
    EXPECT_EQ(disarmed.units, (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(disarmed.per_minute, std::nullopt);
    const auto& by_chance = std::get<live_arming>(events[2]);
    EXPECT_EQ(by_chance.change, "max-false-alarms");
    EXPECT_EQ(by_chance.number, std::nullopt);
    EXPECT_EQ(by_chance.per_minute, 4.0);
    EXPECT_EQ(std::get<live_arming>(events[3]).change, "max-armed");
    EXPECT_EQ(std::get<live_detection>(events[4]).units, armed.units);
}

TEST(EventResults, TellsOfLossesWhenTheyBeginAndDouble) {
    std::vector<live_alarm> alarms;
    event_results results(
        {}, {}, [&](const live_event& event) { alarms.push_back(std::get<live_alarm>(event)); });
    for (std::uint64_t lost = 0; lost < 10; ++lost)
        results.take(block_ended{{.order = {.late = lost / 2}, .unreadable = lost - lost / 2}});
    results.take(session_ended{{.missing = 20, .belated = 3}});

    ASSERT_EQ(alarms.size(), 5U);
    EXPECT_EQ(alarms[0].to, "");
    EXPECT_EQ(alarms[0].unreadable, 1U);
    EXPECT_EQ(alarms[3].late, 4U);
    EXPECT_EQ(alarms[4].missing, 17U);
}

TEST(EventResults, TellsOfADestinationThatFails) {
    std::vector<live_alarm> alarms;
    const auto good = std::make_shared<delivery_report>("good");
    const auto bad = std::make_shared<delivery_report>("bad");
    event_results results(
        {}, {}, [&](const live_event& event) { alarms.push_back(std::get<live_alarm>(event)); },
        {good, bad});
    good->tell_delivered();
    results.take(block_ended{{.unreadable = 1}});
    for (int lost = 1; lost <= 5; ++lost) {
        bad->tell_lost("gone " + std::to_string(lost));
        results.take(block_ended{{.unreadable = 1}});
    }

    ASSERT_EQ(alarms.size(), 4U);
    EXPECT_EQ(alarms[0].to, "");
    EXPECT_EQ(alarms[3].to, "bad");
    EXPECT_EQ(alarms[3].undelivered, 4U);
    EXPECT_EQ(alarms[3].reason, "gone 4");
    EXPECT_EQ(alarms[3].unreadable, 1U);
}

TEST(EventResults, TellsOfSamplesThatWait) {
    std::vector<live_alarm> alarms;
    event_results results(
        {}, {}, [&](const live_event& event) { alarms.push_back(std::get<live_alarm>(event)); });
    results.take(samples_waiting{1.5});
    results.take(block_ended{{.unreadable = 1}});

    ASSERT_EQ(alarms.size(), 2U);
    EXPECT_EQ(alarms[0].behind_s, 1.5);
    EXPECT_EQ(alarms[0].unreadable, 0U);
    EXPECT_FALSE(alarms[1].behind_s);
}

}  // namespace
}  // namespace spikeweave::live
