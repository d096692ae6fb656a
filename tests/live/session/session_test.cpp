#include "live/session/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

const std::vector<std::string> names{"a", "b", "c"};

spike_event spike(std::int64_t time, std::uint32_t unit) {
    return {time, unit_id{unit}};
}

// What a session gave out, in one order: a detection has times, a window has a table.
struct result {
    std::size_t armed = 0;
    std::vector<std::int64_t> times{};
    suppression suppressed = suppression::none;
    window_bounds bounds{};
    std::vector<counted_episode> table{};
    bool has_gap = false;
    bool ends_epoch = false;

    bool is_window() const { return times.empty() && !ends_epoch; }
    friend bool operator==(const result&, const result&) = default;
};

struct kept_results : sink {
    std::vector<std::string> units{};
    std::vector<result> all{};
    std::vector<chance_rates> chances{};
    std::vector<armed_tally> tallies{};
    session_counts at_end{};

    void take(const event& what) override {
        what.visit([this](const auto& one) { on(one); });
    }

private:
    void on(const detection& what) {
        all.push_back({.armed = what.armed,
                       .times = {what.times_us.begin(), what.times_us.end()},
                       .suppressed = what.suppressed});
    }
    void on(const chance_rates& rates) { chances.push_back(rates); }
    void on(const armed_tallied& last) { tallies = {last.armed.begin(), last.armed.end()}; }
    void on(const mined_window& window) {
        all.push_back({.bounds = window.mined.bounds,
                       .table = window.mined.table.episodes,
                       .has_gap = window.has_gap});
    }
    void on(const epoch_ended&) { all.push_back({.ends_epoch = true}); }
    void on(const units_added& more) {
        units.insert(units.end(), more.names.begin(), more.names.end());
    }
    void on(const session_ended& end) { at_end = end.counts; }
    void on(const auto& /*other*/) {}
};

session_options analysis() {
    return {.armed = {{{{unit_id{0}, unit_id{1}}, {{duration{0}, duration{5}}}}}},
            .windows = episode_window_options{
                duration{10},
                duration{0},
                {.delays = {{duration{0}, duration{5}}}, .min_count = 1, .max_size = 2}}};
}

execution one_thread() {
    return {.threads = 1};
}

TEST(Session, GivesDetectionsAndWindowsInTheOrderOfTime) {
    kept_results results;
    session live(names, analysis(), results);

    live.take({.spikes = {spike(1, 0), spike(3, 1), spike(11, 0), spike(14, 1)}}, one_thread());
    live.finish();

    ASSERT_EQ(results.all.size(), 3U);
    EXPECT_EQ(results.all[0].times, (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(results.all[1].bounds, (window_bounds{0, duration{0}, duration{10}}));
    EXPECT_EQ(results.all[2].times, (std::vector<std::int64_t>{11, 14}));
    EXPECT_EQ(
        results.at_end,
        (session_counts{.order = {.accepted = 4}, .detections = 2, .monitored = 1, .windows = 1}));
}

TEST(Session, CountsWhatWasLostAndMarksItsWindows) {
    kept_results results;
    session live(names, analysis(), results);

    live.take({.spikes = {spike(1, 0)}, .watermark_us = 12}, one_thread());
    live.take({.missing = 2, .unreadable = 1, .spikes = {spike(14, 1), spike(14, 3)}});
    live.take({.belated = 1, .repeated = 1, .spikes = {spike(13, 1)}, .watermark_us = 30});
    live.take({.watermark_us = 50}, one_thread());
    live.finish();

    std::vector<bool> gaps;
    for (const result& one : results.all) gaps.push_back(one.has_gap);
    EXPECT_EQ(gaps, (std::vector{false, true, false, false, false}));
    EXPECT_TRUE(results.at_end.has_losses());
    EXPECT_EQ(results.at_end, (session_counts{.order = {.accepted = 2, .late = 1},
                                              .missing = 2,
                                              .belated = 1,
                                              .repeated = 1,
                                              .unreadable = 2,
                                              .monitored = 1,
                                              .windows = 5}));
}

TEST(Session, MinesUnitsThatAppearWhileItRuns) {
    kept_results results;
    session live(names, analysis(), results);

    live.take({.spikes = {spike(1, 0), spike(3, 1)}}, one_thread());
    live.take({.new_units = {"d", "e"}, .spikes = {spike(4, 4), spike(12, 3), spike(14, 0)}},
              one_thread());
    live.take({.spikes = {spike(16, 1), spike(20, 2)}}, one_thread());
    live.finish();

    EXPECT_EQ(results.units, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
    ASSERT_EQ(results.all.size(), 4U);
    EXPECT_EQ(results.all[0].times, (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(results.all[2].times, (std::vector<std::int64_t>{14, 16}));
    const auto options = analysis();
    const auto first = sequence_of({{1, unit_id{0}}, {3, unit_id{1}}, {4, unit_id{4}}},
                                   results.units, {duration{0}, duration{10}});
    EXPECT_EQ(results.all[1].table,
              mine_episodes(first, options.windows->mining, one_thread()).episodes);
    const auto second = sequence_of({{12, unit_id{3}}, {14, unit_id{0}}, {16, unit_id{1}}},
                                    results.units, {duration{10}, duration{20}});
    EXPECT_EQ(results.all[3].table,
              mine_episodes(second, options.windows->mining, one_thread()).episodes);
    EXPECT_THROW(live.take({.new_units = {"d"}}), invalid_argument);
}

TEST(Session, MarksWindowsOfUnreadableMessages) {
    kept_results results;
    session live(names, analysis(), results);

    live.take({.spikes = {spike(1, 0)}, .watermark_us = 10}, one_thread());
    live.take({.unreadable = 1, .spikes = {spike(12, 1)}, .watermark_us = 30}, one_thread());
    live.finish();

    ASSERT_EQ(results.all.size(), 3U);
    EXPECT_FALSE(results.all[0].has_gap);
    EXPECT_TRUE(results.all[1].has_gap);
}

TEST(Session, LetsNothingContinueInTheNextEpoch) {
    kept_results results;
    session live(names, analysis(), results);

    live.take({.spikes = {spike(8, 0)}});
    live.take({.begins_epoch = true, .spikes = {spike(2, 1), spike(11, 2)}}, one_thread());
    live.finish();

    ASSERT_EQ(results.all.size(), 2U);
    EXPECT_TRUE(results.all[0].ends_epoch);
    EXPECT_EQ(results.all[1].bounds, (window_bounds{0, duration{0}, duration{10}}));
    EXPECT_EQ(results.at_end.epochs, 1U);
    EXPECT_FALSE(results.at_end.has_losses());
}

TEST(Session, EndsBetweenBlocksWhenItIsStopped) {
    struct endless : source {
        std::stop_source stop{};
        std::int64_t time = 0;
        const std::vector<std::string>& unit_names() const override { return names; }
        std::optional<source_block> next() override {
            if (++time == 100) stop.request_stop();
            return source_block{.spikes = {spike(time, 0)}};
        }
    } from;
    kept_results results;
    session live(names, analysis(), results);

    run_session(from, live, {.threads = 1, .stop = from.stop.get_token()});

    EXPECT_EQ(results.at_end.order.accepted, 100U);
    EXPECT_EQ(results.at_end.windows, 10U);
}

TEST(Session, SuppressesDetectionsThatAreNoTriggers) {
    auto options = analysis();
    options.windows.reset();
    options.triggers.hold_off = duration{10};
    options.patterns = {duration{5}, {{{unit_id{2}, 0}}}};
    kept_results results;
    session live(names, options, results);

    live.take({.new_units = {"d"}, .spikes = {spike(1, 0), spike(3, 1), spike(4, 0), spike(6, 1)}});
    live.take({.spikes = {spike(12, 2), spike(12, 3), spike(13, 0), spike(15, 1)}});
    live.finish();

    const auto held_off = suppression::hold_off;
    EXPECT_EQ(results.all, (std::vector<result>{{.times = {1, 3}},
                                                {.times = {4, 6}, .suppressed = held_off},
                                                {.armed = 1, .times = {12}},
                                                {.times = {13, 15}}}));
    EXPECT_EQ(results.at_end, (session_counts{.order = {.accepted = 8},
                                              .detections = 4,
                                              .suppressed = {.hold_off = 1},
                                              .monitored = 2,
                                              .patterns = 1}));
    EXPECT_EQ(results.at_end.triggers(), 3U);
    ASSERT_EQ(results.tallies.size(), 2U);
    EXPECT_EQ(results.tallies[0].detected, 3U);
    EXPECT_EQ(results.tallies[0].completed, 3U);
    EXPECT_EQ(results.tallies[1].detected, 1U);
}

TEST(Session, TriggersNothingBeforeRatesWereMeasured) {
    auto options = analysis();
    options.windows.reset();
    options.triggers.max_false_alarms = event_rate{1};
    options.triggers.rates_from = std::chrono::milliseconds{1};
    kept_results results;
    session live(names, options, results);

    live.take({.spikes = {spike(1, 0), spike(3, 1), spike(1'001, 0), spike(1'003, 1)}});
    live.finish();

    EXPECT_EQ(results.all,
              (std::vector<result>{{.times = {1, 3}, .suppressed = suppression::unchecked},
                                   {.times = {1'001, 1'003}}}));
    ASSERT_EQ(results.chances.size(), 1U);
    EXPECT_EQ(results.chances[0].begin_us, 1);
    EXPECT_EQ(results.chances[0].end_us, 1'001);
}

TEST(Session, RefusesInvalidOptions) {
    kept_results results;
    auto options = analysis();
    options.windows->mining.min_count = 0;
    EXPECT_THROW(session(names, options, results), invalid_argument);
    options = analysis();
    options.armed[0].what.units[0] = unit_id{3};
    EXPECT_THROW(session(names, options, results), invalid_argument);
    options = analysis();
    options.triggers.hold_off = duration{-1};
    EXPECT_THROW(session(names, options, results), invalid_argument);
    options = analysis();
    options.patterns.patterns = {{}};
    EXPECT_THROW(session(names, options, results), invalid_argument);
}

// Spikes of one epoch that come in disorder, within the lateness of 6.
std::vector<spike_event> disordered_spikes(std::mt19937_64& random) {
    std::vector<std::pair<std::int64_t, spike_event>> sent;
    std::int64_t time = static_cast<std::int64_t>(random() % 100) - 50;
    for (std::uint64_t k = random() % 80; k-- > 0;) {
        time += static_cast<std::int64_t>(random() % 3);
        sent.emplace_back(time + static_cast<std::int64_t>(random() % 7),
                          spike(time, static_cast<std::uint32_t>(random() % 3)));
    }
    std::stable_sort(sent.begin(), sent.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
    std::vector<spike_event> arrived;
    for (const auto& [when, one] : sent) arrived.push_back(one);
    return arrived;
}

std::vector<source_block> cut_at_random(const std::vector<std::vector<spike_event>>& epochs,
                                        std::mt19937_64& random) {
    std::vector<source_block> blocks;
    for (const auto& spikes : epochs) {
        blocks.push_back({.begins_epoch = !blocks.empty()});
        for (const spike_event& one : spikes) {
            if (random() % 3 == 0) blocks.emplace_back();
            blocks.back().spikes.push_back(one);
        }
    }
    return blocks;
}

std::vector<result> results_of(const std::vector<source_block>& blocks,
                               const session_options& options) {
    kept_results results;
    session live(names, options, results);
    for (const source_block& block : blocks) live.take(block, one_thread());
    live.finish(one_thread());
    EXPECT_FALSE(results.at_end.has_losses());
    return results.all;
}

trigger_options random_triggers(std::mt19937_64& random) {
    trigger_options options{.mute_window = duration{8}};
    if (random() % 2 == 0) options.hold_off = duration{12};
    if (random() % 2 == 0) options.max_triggers = event_rate{2, duration{40}};
    if (random() % 2 == 0) options.mute_above = event_rate{5, duration{8}};
    return options;
}

// What detectors and a gate by themselves say of the spikes of an epoch.
void add_detections(const session_options& options, const std::set<spike_event>& spikes,
                    trigger_gate& gate, std::vector<result>& expected) {
    episode_detector episodes(options.armed, names.size());
    pattern_detector patterns(options.patterns, names.size());
    gate.end_epoch();
    for (const auto& [time, unit] : spikes) {
        gate.observe(time);
        for (const auto& [number, times] : episodes.add(time, unit))
            expected.push_back({number, {times.begin(), times.end()}, gate.decide(number)});
        for (const auto& [number, begin, times] : patterns.add(time, unit))
            expected.push_back({1 + number, {times.begin(), times.end()}, gate.decide(1 + number)});
    }
}

// The results are those of batch analysis of the spikes of each epoch, and do not depend on how the
// stream is cut into blocks.
TEST(SessionProperty, GivesTheResultsOfBatchAnalysis) {
    std::mt19937_64 random(7);
    std::size_t detections = 0, windows = 0, suppressed = 0;
    for (std::size_t i = 0; i < property_cases(300); ++i) {
        session_options options = analysis();
        options.order = {.policy = order_policy::lateness, .lateness = duration{6}};
        options.windows->length = duration{static_cast<std::int64_t>(random() % 3) * 10};
        options.windows->hop = duration{7};
        options.triggers = random_triggers(random);
        options.patterns = {duration{4}, {{{unit_id{0}, 0}, {unit_id{2}, 1}}, {{unit_id{1}, 0}}}};
        trigger_gate gate(3, options.triggers);
        std::vector<result> decided, judged;
        std::vector<std::vector<spike_event>> epochs(1 + random() % 3);
        for (auto& spikes : epochs) spikes = disordered_spikes(random);

        const auto results = results_of(cut_at_random(epochs, random), options);
        ASSERT_EQ(results_of(cut_at_random(epochs, random), options), results) << "case " << i;

        auto next = results.begin();
        for (const auto& arrived : epochs) {
            const std::set<spike_event> sent(arrived.begin(), arrived.end());
            const auto slice = [&](time_span span) {
                std::vector<std::pair<std::int64_t, unit_id>> inside;
                for (const auto& [time, unit] : sent)
                    if (duration{time} >= span.begin && duration{time} < span.end)
                        inside.emplace_back(time, unit);
                return sequence_of(inside, names, span);
            };
            const auto end =
                std::find_if(next, results.end(), [](const result& one) { return one.ends_epoch; });
            std::vector<std::vector<std::int64_t>> detected;
            for (; next != end; ++next) {
                if (!next->is_window()) {
                    decided.push_back(*next);
                    suppressed += next->suppressed == suppression::none ? 0 : 1;
                    if (next->armed == 0) detected.push_back(next->times);
                    continue;
                }
                ++windows;
                const auto alone = mine_episodes(slice({next->bounds.begin, next->bounds.end}),
                                                 options.windows->mining, one_thread());
                ASSERT_EQ(next->table, alone.episodes) << "case " << i;
            }
            if (next != results.end()) ++next;
            const auto all = slice({duration{-1'000}, duration{10'000}});
            ASSERT_EQ(detected, find_occurrences(all, options.armed[0].what)) << "case " << i;
            detections += detected.size();
            add_detections(options, sent, gate, judged);
        }
        ASSERT_EQ(decided, judged) << "case " << i;
    }
    EXPECT_GT(suppressed, property_cases(300));
    EXPECT_GT(detections, property_cases(300));
    EXPECT_GT(windows, property_cases(300));
}

}  // namespace
}  // namespace spikeweave::live
