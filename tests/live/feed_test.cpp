#include "spikeweave/live/feed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 20ms;
const std::vector<std::string> names{"a", "b", "c"};
const delay_interval short_delay{duration{0}, duration{5}};

live_options analysis() {
    live_options options;
    options.speed = 0;
    options.armed = {{{"a", "b"}, {short_delay}}};
    options.window = {
        duration{100}, duration{0}, {.delays = {short_delay}, .min_count = 1, .max_size = 2}};
    options.threads = 1;
    return options;
}

// Windows are mined by another thread, and none is cut short.
live_options analysis_beside() {
    live_options options = analysis();
    options.speed = 1;
    options.window_budget = duration{0};
    return options;
}

spike_sequence random_spikes(std::mt19937_64& random, std::size_t most) {
    spike_sequence_builder builder;
    for (const std::string& name : names) builder.unit(name);
    std::int64_t time = 0;
    for (std::uint64_t k = random() % (most + 1); k-- > 0;) {
        time += static_cast<std::int64_t>(random() % 4);
        builder.append(time, unit_id{static_cast<std::uint32_t>(random() % 3)});
    }
    return builder.finish();
}

// What was found, in one order.
struct found_events {
    std::vector<std::vector<std::int64_t>> detections{};
    std::vector<episode_window> windows{};
    live_result result{};
    bool has_ended = false;

    void take(const live_event& event) {
        EXPECT_FALSE(has_ended);
        if (const auto* detection = std::get_if<live_detection>(&event)) {
            EXPECT_EQ(detection->units, (std::vector<std::string>{"a", "b"}));
            detections.push_back(detection->times_us);
        } else if (const auto* window = std::get_if<live_window>(&event)) {
            windows.push_back(window->mined);
        } else if (const auto* last = std::get_if<live_result>(&event)) {
            result = *last;
            has_ended = true;
        }
    }
};

found_events all_of(live_feed& feed) {
    found_events found;
    while (!feed.is_over())
        if (const auto event = feed.next(patience)) found.take(*event);
    return found;
}

// The ids of units depend on their order of appearance, so episodes are compared by their names.
using named_count = std::pair<std::vector<std::string>, std::uint64_t>;
std::vector<named_count> counts_in(const episode_table& table,
                                   const std::vector<std::string>& unit_names) {
    std::vector<named_count> counts;
    for (const auto& [what, count] : table.episodes) {
        named_count& one = counts.emplace_back(named_count{{}, count});
        for (const unit_id unit : what.units) one.first.push_back(unit_names[to_index(unit)]);
    }
    return counts;
}

TEST(LiveFeedProperty, GivesTheResultsOfBatchAnalysis) {
    std::mt19937_64 random(3);
    std::size_t detections = 0, windows = 0;
    for (std::size_t i = 0; i < property_cases(60); ++i) {
        // More events than can wait, in some cases.
        const spike_sequence spikes = random_spikes(random, i % 8 == 0 ? 12'000 : 400);
        live_options options = analysis();
        if (i % 2 == 1) options.armed.clear();
        live_feed feed(spikes, options);
        const found_events found = all_of(feed);

        ASSERT_TRUE(found.has_ended);
        EXPECT_EQ(found.result.spikes, spikes.size());
        EXPECT_EQ(found.result.detections, found.detections.size());
        EXPECT_EQ(found.result.windows, found.windows.size());
        const episode armed{{unit_id{0}, unit_id{1}}, {short_delay}};
        EXPECT_EQ(found.detections, options.armed.empty() ? std::vector<std::vector<std::int64_t>>{}
                                                          : find_occurrences(spikes, armed));
        for (const episode_window& one : found.windows) {
            std::vector<std::pair<std::int64_t, unit_id>> inside;
            for (std::size_t at = 0; at < spikes.size(); ++at)
                if (duration{spikes.times_us()[at]} >= one.bounds.begin &&
                    duration{spikes.times_us()[at]} < one.bounds.end)
                    inside.emplace_back(spikes.times_us()[at], spikes.units()[at]);
            ASSERT_EQ(one.spikes, inside.size());
            const auto slice = sequence_of(inside, names, {one.bounds.begin, one.bounds.end});
            EXPECT_EQ(one.table.episodes,
                      mine_episodes(slice, options.window.mining, {.threads = 1}).episodes);
        }
        detections += found.detections.size();
        windows += found.windows.size();
    }
    EXPECT_GT(detections, property_cases(60));
    EXPECT_GT(windows, property_cases(60));
}

TEST(LiveFeedProperty, GivesTheSameForBlocks) {
    std::mt19937_64 random(5);
    for (std::size_t i = 0; i < property_cases(40); ++i) {
        const spike_sequence spikes = random_spikes(random, 400);
        live_feed replayed(spikes, analysis());
        const found_events expected = all_of(replayed);
        live_feed feed(random() % 2 == 0 ? analysis() : analysis_beside());
        found_events found;
        std::vector<std::vector<named_count>> tables;
        std::size_t at = 0;
        while (!feed.is_over()) {
            if (const auto event = feed.next(patience)) {
                found.take(*event);
                if (const auto* window = std::get_if<live_window>(&*event))
                    tables.push_back(counts_in(window->mined.table, *window->unit_names));
            } else if (feed.wants_block()) {
                if (at == spikes.size()) {
                    feed.end();
                    continue;
                }
                // Each block has its own numbers of units.
                live_block block{.unit_names = names};
                const auto shift = static_cast<std::uint32_t>(random() % names.size());
                std::rotate(block.unit_names.begin(), block.unit_names.begin() + shift,
                            block.unit_names.end());
                for (std::uint64_t k = random() % 20; k-- > 0 && at < spikes.size(); ++at) {
                    const auto unit = static_cast<std::uint32_t>(to_index(spikes.units()[at]));
                    block.times_us.push_back(spikes.times_us()[at]);
                    block.units.push_back(unit_id{(unit + 3 - shift) % 3});
                }
                feed.add(block);
            }
        }
        ASSERT_EQ(found.detections, expected.detections) << "case " << i;
        EXPECT_EQ(found.result.spikes, spikes.size());
        // At the end of a file all its spikes have come.
        ASSERT_LE(expected.windows.size() - found.windows.size(), 1U);
        for (std::size_t k = 0; k < tables.size(); ++k)
            EXPECT_EQ(tables[k], counts_in(expected.windows[k].table, names));
    }
}

TEST(LiveFeed, GivesTheEventsOfABlockBeforeTheNextIsWanted) {
    live_feed feed(analysis());
    while (!feed.wants_block()) EXPECT_FALSE(feed.next(patience));

    feed.add({.times_us = {1, 3}, .units = {unit_id{0}, unit_id{1}}, .unit_names = {"a", "b"}});
    EXPECT_FALSE(feed.wants_block());
    std::optional<live_event> first;
    while (!first) first = feed.next(patience);
    EXPECT_EQ(std::get<live_detection>(*first).times_us, (std::vector<std::int64_t>{1, 3}));
    while (!feed.wants_block()) EXPECT_FALSE(feed.next(patience));
    feed.add({.watermark_us = 100});
    std::optional<live_event> second;
    while (!second) second = feed.next(patience);
    EXPECT_EQ(std::get<live_window>(*second).mined.spikes, 2U);
    feed.end();
    EXPECT_EQ(all_of(feed).result.windows, 1U);
    EXPECT_FALSE(feed.wants_block());
}

TEST(LiveFeed, TakesABlockAfterSilence) {
    live_feed feed(analysis());
    while (!feed.wants_block()) feed.next(patience);
    std::this_thread::sleep_for(1'100ms);

    ASSERT_TRUE(feed.wants_block());
    feed.add({.times_us = {1, 3}, .units = {unit_id{0}, unit_id{1}}, .unit_names = {"a", "b"}});
    feed.end();
    EXPECT_EQ(all_of(feed).result.detections, 1U);
}

TEST(LiveFeed, TellsOfCountsAndOfWindowsThatAreSkipped) {
    live_options options = analysis();
    options.track_every = duration{100};
    live_feed counting(sequence_of({{1, unit_id{0}}, {3, unit_id{1}}, {250, unit_id{0}}}, names,
                                   {duration{0}, duration{300}}),
                       options);
    std::vector<std::uint64_t> counts;
    while (!counting.is_over())
        if (const auto event = counting.next(patience))
            if (const auto* one = std::get_if<live_counts>(&*event))
                counts.push_back(one->counts[0]);
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{1, 0, 0}));

    options = analysis_beside();
    options.window_budget = duration{1};  // over before its search begins
    live_feed hurried(options);
    while (!hurried.wants_block()) hurried.next(patience);
    hurried.add(
        {.times_us = {1}, .units = {unit_id{0}}, .unit_names = {"a"}, .watermark_us = 100'000});
    std::size_t skipped = 0;
    live_result result;
    while (!hurried.is_over()) {
        if (const auto event = hurried.next(patience)) {
            const auto* const window = std::get_if<live_window>(&*event);
            skipped += window != nullptr && window->is_skipped() ? 1 : 0;
            if (const auto* last = std::get_if<live_result>(&*event)) result = *last;
        } else if (hurried.wants_block()) {
            hurried.end();
        }
    }
    EXPECT_GT(skipped, 0U);
    EXPECT_EQ(result.skipped, skipped);
    EXPECT_TRUE(result.has_losses());
}

TEST(LiveFeed, RefusesBlocksThatCannotBe) {
    live_feed feed(analysis());
    while (!feed.wants_block()) feed.next(patience);

    EXPECT_THROW(feed.add({.times_us = {1}}), invalid_argument);
    EXPECT_THROW(feed.add({.times_us = {1}, .units = {unit_id{1}}, .unit_names = {"a"}}),
                 invalid_argument);
    feed.add({.times_us = {1}, .units = {unit_id{0}}, .unit_names = {"a"}});
    while (!feed.wants_block()) feed.next(patience);
    feed.end();
    EXPECT_EQ(all_of(feed).result.spikes, 1U);
    EXPECT_THROW(feed.add({}), invalid_argument);
    live_feed replayed(spike_sequence(), analysis());
    EXPECT_THROW(replayed.add({}), invalid_argument);
}

TEST(LiveFeed, WaitsWhenNobodyTakesEventsAndLosesNone) {
    std::vector<std::pair<std::int64_t, unit_id>> pairs;
    constexpr std::int64_t many = 4 * live_feed::most_waiting;
    for (std::int64_t i = 0; i < many; ++i) {
        pairs.emplace_back(20 * i, unit_id{0});
        pairs.emplace_back(20 * i + 1, unit_id{1});
    }
    live_options options = analysis();
    options.windows = false;
    live_feed feed(sequence_of(pairs, names, {duration{0}, duration{20 * many}}), options);
    std::this_thread::sleep_for(50ms);

    EXPECT_EQ(all_of(feed).detections.size(), static_cast<std::size_t>(many));
}

// A replay of hours, of which the first spikes come at once.
live_feed slow_feed(const live_options& options) {
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    for (std::int64_t i = 0; i < 200'000; ++i) spikes.emplace_back(i * 1'000, unit_id{i % 2 == 1});
    return {sequence_of(spikes, names, {duration{0}, duration{1'000'000'000'000}}), options};
}

TEST(LiveFeed, StopsWithTheResultsOfWhatHasCome) {
    const temporary_folder folder;
    live_options options = analysis();
    options.speed = 1;
    options.window.length = 10ms;
    options.window.mining.delays = {{duration{0}, 2ms}};
    options.to = {(folder.path() / "found.jsonl").string()};
    live_feed feed = slow_feed(options);
    while (!feed.next(patience)) EXPECT_FALSE(feed.is_over());

    const auto began = std::chrono::steady_clock::now();
    feed.stop();
    while (!feed.is_over()) EXPECT_FALSE(feed.next(patience));

    EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
    std::ifstream in(folder.path() / "found.jsonl");
    std::string line, last;
    while (std::getline(in, line)) last = line;
    EXPECT_TRUE(last.starts_with(R"({"type":"stats")")) << last;
}

TEST(LiveFeed, EndsWhenItIsDestroyed) {
    live_options options = analysis();
    options.speed = 1;
    const auto began = std::chrono::steady_clock::now();
    {
        live_feed feed = slow_feed(options);
        while (!feed.next(patience)) EXPECT_FALSE(feed.is_over());
        feed = slow_feed(options);  // the first one ends
        live_feed waiting(analysis());
    }
    {
        options.speed = 0;  // more events than can wait
        const live_feed full = slow_feed(options);
        std::this_thread::sleep_for(20ms);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST(LiveFeed, ThrowsWhatTheRunThrows) {
    live_feed feed("there_is_no_such_file", live_options{});
    const auto wait = [&] {
        while (!feed.is_over()) feed.next(patience);
    };

    EXPECT_NE(text_of(wait).find("there_is_no_such_file"), std::string::npos);
    EXPECT_TRUE(feed.is_over());
    EXPECT_FALSE(feed.next(patience));
}

TEST(LiveFeed, RefusesOptionsAtOnce) {
    const auto refuses = [](const auto& change) {
        live_options options = analysis();
        change(options);
        EXPECT_THROW(live_feed(spike_sequence(), options), invalid_argument);
        EXPECT_THROW(live_feed{options}, invalid_argument);
    };
    refuses([](live_options& options) { options.window.mining.min_count = 0; });
    refuses([](live_options& options) { options.verify = true; });
    refuses([](live_options& options) { options.resume = "x.session"; });
    refuses([](live_options& options) { options.order = "sometimes"; });
    refuses([](live_options& options) {
        options.windows = false;
        options.armed.clear();
    });
    live_options fast = analysis();
    fast.speed = 2;
    EXPECT_THROW(live_feed{fast}, invalid_argument);
    live_options unknown = analysis();
    unknown.armed = {{{"a", "d"}, {short_delay}}};
    live_feed feed(spike_sequence({}, {}, names, {}), unknown);
    EXPECT_NE(text_of([&] {
                  while (!feed.is_over()) feed.next(patience);
              }).find("'d'"),
              std::string::npos);
}

}  // namespace
}  // namespace spikeweave
