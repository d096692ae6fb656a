// Windows that are mined beside the analysis, within a budget.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/session/session.hpp"
#include "live/windows/window_miner.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> two_units{"a", "b"};

struct seen_window {
    window_bounds bounds{};
    std::vector<counted_episode> episodes{};
    std::size_t spikes = 0;
    window_outcome outcome{};
    bool has_gap = false;
    std::uint64_t epoch = 0;

    friend bool operator==(const seen_window&, const seen_window&) = default;
};

// Keeps detections and windows apart, each in their order. `on_window` is called by the thread that
// mines.
struct two_streams : sink {
    std::vector<std::vector<std::int64_t>> detections{};
    std::vector<seen_window> windows{};
    session_counts at_end{};
    std::function<void(const mined_window&)> on_window{};
    std::vector<silent_range> silences{};
    std::atomic<std::size_t> detected_so_far{0};

    void take(const event& what) override {
        what.visit(handlers{[&](const detection& one) {
                                detections.emplace_back(one.times_us.begin(), one.times_us.end());
                                ++detected_so_far;
                            },
                            [&](const mined_window& window) {
                                windows.push_back({window.mined.bounds, window.mined.table.episodes,
                                                   window.mined.spikes,
                                                   window.mined.table.complete_to_size,
                                                   window.has_gap, window.epoch});
                                if (on_window) on_window(window);
                            },
                            [&](const silent_range& range) { silences.push_back(range); },
                            [&](const session_ended& end) { at_end = end.counts; }});
    }
};

session_options every_ten_us(window_pace pace) {
    session_options options{
        .armed = {{{{unit_id{0}, unit_id{1}}, {{duration{0}, duration{5}}}}}},
        .windows = episode_window_options{
            duration{10}, duration{0}, {.delays = {{duration{0}, duration{5}}}, .min_count = 1}}};
    options.pace = pace;
    return options;
}

const execution alone{.threads = 1};

// A pair in the window with this number, and the time at which it ends.
source_block pair_in(std::int64_t window) {
    const std::int64_t begin = 10 * window;
    return {.spikes = {{begin + 1, unit_id{0}}, {begin + 3, unit_id{1}}},
            .watermark_us = begin + 10};
}

// What a thread waits for.
class gate {
public:
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        opened_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [&] { return is_open_; });
    }

private:
    std::mutex mutex_{};
    std::condition_variable opened_{};
    bool is_open_ = false;
};

// A leap of the clock of a day has 10^10 windows.
TEST(SessionWindows, AreNotToldOneByOneWhereNothingComesForLong) {
    for (const bool beside : {false, true}) {
        two_streams results;
        session live(two_units, every_ten_us({.beside = beside}), results);
        constexpr std::int64_t far = 10'000'000'000;
        live.take(pair_in(0), alone);
        live.take(pair_in(far), alone);
        live.finish(alone);

        EXPECT_EQ(results.detections.size(), 2U);
        ASSERT_EQ(results.windows.size(), 1'002U) << "a thousand without spikes";
        EXPECT_EQ(results.windows.back().bounds.number, far);
        EXPECT_EQ(results.windows.back().episodes.size(), 3U);
        ASSERT_EQ(results.silences.size(), 1U);
        const auto& [first, last] = results.silences[0].windows;
        EXPECT_EQ(first, (window_bounds{1'001, duration{10'010}, duration{10'020}}));
        EXPECT_EQ(last.number, far - 1);
        EXPECT_EQ(results.at_end.skipped, 0U);
    }
}

TEST(SessionWindows, DoNotKeepDetectionsWaiting) {
    two_streams results;
    gate all_are_detected;
    results.on_window = [&](const mined_window&) { all_are_detected.wait(); };
    session live(two_units, every_ten_us({.beside = true}), results);

    for (std::int64_t k = 0; k < 10; ++k) live.take(pair_in(k), alone);
    EXPECT_EQ(results.detected_so_far, 10U) << "and no window has been given yet";
    all_are_detected.open();
    live.finish(alone);

    EXPECT_EQ(results.windows.size(), 10U);
    EXPECT_EQ(results.at_end.windows, 10U);
    EXPECT_FALSE(results.at_end.has_losses());
}

TEST(SessionWindows, WaitForRoomIfNoneMayBeSkipped) {
    two_streams results;
    gate first;
    results.on_window = [&](const mined_window&) { first.wait(); };
    session live(two_units, every_ten_us({.beside = true}), results);
    std::jthread opens([&] {
        std::this_thread::sleep_for(100ms);
        EXPECT_LE(results.detected_so_far, window_miner::most_waiting + 3);
        first.open();
    });

    for (std::int64_t k = 0; k < 100; ++k) live.take(pair_in(k), alone);
    live.finish(alone);

    EXPECT_EQ(results.at_end.windows, 100U);
    EXPECT_EQ(results.at_end.skipped, 0U);
}

TEST(SessionWindows, AreSkippedInTheirOrderIfTooManyWait) {
    two_streams results;
    gate first_is_there, all_are_given;
    results.on_window = [&](const mined_window&) {
        first_is_there.open();
        all_are_given.wait();
    };
    session live(two_units, every_ten_us({.beside = true, .budget = 1h}), results);

    live.take(pair_in(0), alone);
    first_is_there.wait();
    constexpr std::int64_t all = window_miner::most_waiting + 5;
    for (std::int64_t k = 1; k < all; ++k) live.take(pair_in(k), alone);
    all_are_given.open();
    live.finish(alone);

    ASSERT_EQ(results.windows.size(), std::size_t{all});
    for (std::int64_t k = 0; k < all; ++k) {
        const seen_window& window = results.windows[static_cast<std::size_t>(k)];
        EXPECT_EQ(window.bounds.number, k);
        EXPECT_EQ(window.spikes, 2U);
        const bool is_skipped = k > static_cast<std::int64_t>(window_miner::most_waiting);
        EXPECT_EQ(window.outcome, is_skipped ? window_outcome(0) : window_outcome()) << k;
        EXPECT_EQ(window.episodes.empty(), is_skipped);
    }
    EXPECT_EQ(results.at_end.windows, window_miner::most_waiting + 1);
    EXPECT_EQ(results.at_end.skipped, 4U);
    EXPECT_TRUE(results.at_end.has_losses());
}

TEST(SessionWindows, AreSkippedIfTheirTimeIsOver) {
    two_streams results;
    gate time_is_over;
    results.on_window = [&](const mined_window&) { time_is_over.wait(); };
    session live(two_units, every_ten_us({.beside = true, .budget = 300ms}), results);

    for (std::int64_t k = 0; k < 5; ++k) live.take(pair_in(k), alone);
    std::this_thread::sleep_for(400ms);
    time_is_over.open();
    live.take(pair_in(5), alone);
    live.finish(alone);

    ASSERT_EQ(results.windows.size(), 6U);
    EXPECT_FALSE(results.windows.front().outcome) << "it was mined before";
    for (std::size_t k = 1; k < 5; ++k) EXPECT_EQ(results.windows[k].outcome, window_outcome(0));
    EXPECT_FALSE(results.windows.back().outcome) << "there was time again";
    EXPECT_EQ(results.at_end.skipped, 4U);
    EXPECT_EQ(results.at_end.incomplete, 0U);
}

// A window whose search would take very long: every subsequence of a burst is frequent.
// Without a budget of time such a search is refused.
session_options endless_search(window_pace pace) {
    session_options options = every_ten_us(pace);
    options.windows->length = duration{2'000};
    options.windows->mining.delays = {{duration{0}, duration{500}}};
    options.windows->mining.min_count = 2;
    options.windows->mining.self_repeats = true;
    return options;
}

source_block burst_of(std::uint32_t units) {
    source_block block{.watermark_us = 2'000};
    for (std::int64_t time = 0; time < 1'000; time += 5)
        block.spikes.push_back({time, unit_id{static_cast<std::uint32_t>(time / 5 * 7) % units}});
    return block;
}

std::vector<std::string> many_units() {
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) names.push_back("n" + std::to_string(i));
    return names;
}

spike_sequence sequence_of_burst() {
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    for (const spike_event& one : burst_of(20).spikes) spikes.emplace_back(one.time_us, one.unit);
    return sequence_of(spikes, many_units(), {duration{0}, duration{2'000}});
}

TEST(SessionWindows, EndTheirSearchInTimeWithTheSizesThatAreFinished) {
    two_streams results;
    session live(many_units(), endless_search({.beside = true, .budget = 200ms}), results);

    const auto began = std::chrono::steady_clock::now();
    live.take(burst_of(20), alone);
    live.finish(alone);
    const auto took = std::chrono::steady_clock::now() - began;

    EXPECT_LT(took, 5s);
    ASSERT_EQ(results.windows.size(), 1U);
    const seen_window& window = results.windows.front();
    ASSERT_TRUE(window.outcome);
    ASSERT_GE(*window.outcome, 2U);
    EXPECT_EQ(results.at_end.incomplete, 1U);
    EXPECT_FALSE(results.at_end.has_losses());
    episode_mining_options so_far = endless_search({}).windows->mining;
    so_far.max_size = *window.outcome;
    EXPECT_EQ(window.episodes, mine_episodes(sequence_of_burst(), so_far, alone).episodes);
}

session_options deciding(session_options options) {
    options.arming = arming_settings{{.arm = arming_method::automatic}, {}};
    return options;
}

// The search takes all the time, after its first two sizes.
TEST(SessionWindows, AreNotTestedWhenTheirTimeIsOver) {
    two_streams results;
    std::optional<bool> was_tested;
    results.on_window = [&](const mined_window& window) { was_tested = window.was_tested; };
    session live(many_units(), deciding(endless_search({.beside = true, .budget = 1s})), results);
    bool has_waited = false;
    const auto wait = [&](const progress_report& now) {
        if (now.task != "extending episodes" || std::exchange(has_waited, true)) return;
        std::this_thread::sleep_for(1100ms);
    };

    live.take(burst_of(20), {.threads = 1, .on_progress = wait});
    live.finish(alone);

    ASSERT_TRUE(has_waited);
    ASSERT_EQ(results.windows.size(), 1U);
    EXPECT_EQ(results.windows.front().outcome, window_outcome(2));
    EXPECT_EQ(was_tested, false);
    EXPECT_EQ(results.at_end.untested, 1U);
    EXPECT_EQ(results.at_end.incomplete, 1U);
}

// The search ends after three quarters of the time, so that there is some left.
TEST(SessionWindows, AreTestedIfTheirSearchHadToEnd) {
    two_streams results;
    std::optional<bool> was_tested;
    results.on_window = [&](const mined_window& window) { was_tested = window.was_tested; };
    session live(many_units(), deciding(endless_search({.beside = true, .budget = 8s})), results);
    bool has_waited = false;
    const auto wait = [&](const progress_report& now) {
        if (now.task != "extending episodes" || std::exchange(has_waited, true)) return;
        std::this_thread::sleep_for(6500ms);
    };

    live.take(burst_of(20), {.threads = 1, .on_progress = wait});
    live.finish(alone);

    ASSERT_EQ(results.windows.size(), 1U);
    EXPECT_EQ(results.windows.front().outcome, window_outcome(2));
    EXPECT_EQ(was_tested, true);
    EXPECT_EQ(results.at_end.untested, 0U);
}

TEST(SessionWindows, AreTestedOnlyIfTheyDecideSomething) {
    std::vector<std::optional<bool>> were_tested;
    for (const bool decide : {false, true}) {
        two_streams results;
        results.on_window = [&](const mined_window& window) {
            were_tested.push_back(window.was_tested);
        };
        session_options options = every_ten_us({.beside = true, .budget = 1h});
        options.windows->hop = duration{5};
        session live(two_units, decide ? deciding(options) : options, results);
        for (std::int64_t k = 0; k < 2; ++k) live.take(pair_in(k), alone);
        live.finish(alone);
        EXPECT_EQ(results.at_end.untested, 0U);
    }
    const std::optional<bool> no_test;
    EXPECT_EQ(were_tested, (std::vector{no_test, no_test, no_test, std::optional(true), no_test,
                                        std::optional(true)}));
}

TEST(SessionWindows, EndTheirSearchBeforeTheMemoryIsUsedUp) {
    const std::uint64_t most = resident_memory_bytes() + 50'000'000;
    two_streams results;
    session live(many_units(),
                 endless_search({.beside = true, .budget = 1h, .max_memory_bytes = most}), results);

    live.take(burst_of(20), alone);
    live.finish(alone);

    ASSERT_EQ(results.windows.size(), 1U);
    EXPECT_TRUE(results.windows.front().outcome);
    EXPECT_GE(*results.windows.front().outcome, 1U);
}

TEST(SessionWindows, TellTheErrorOfTheirThread) {
    for (const bool at_the_end : {false, true}) {
        two_streams results;
        gate failed;
        results.on_window = [&](const mined_window&) {
            failed.open();
            throw io_error("no room");
        };
        session live(two_units, every_ten_us({.beside = true}), results);
        live.take(pair_in(0), alone);
        failed.wait();
        EXPECT_EQ(text_of([&] {
                      for (std::int64_t k = 1; !at_the_end && k < 10'000; ++k)
                          live.take(pair_in(k), alone);
                      live.finish(alone);
                  }),
                  "no room");
    }
}

// Nothing of a window is given that was searched when the session was given up.
TEST(SessionWindows, EndAtOnceWithASessionThatIsGivenUp) {
    two_streams results;
    const auto began = std::chrono::steady_clock::now();
    {
        session live(many_units(), endless_search({.beside = true, .budget = 1h}), results);
        live.take(burst_of(20), alone);
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
    EXPECT_TRUE(results.windows.empty());
}

TEST(SessionWindows, AreStoppedAsTheCallerAsks) {
    two_streams results;
    session live(many_units(), endless_search({.beside = true, .budget = 1h}), results);
    std::stop_source stop;
    live.take(burst_of(20), {.threads = 1, .stop = stop.get_token()});
    stop.request_stop();
    EXPECT_THROW(live.finish(), cancelled);
}

// Both streams of results are those of a session that mines where it takes spikes.
TEST(SessionWindowsProperty, AreThoseOfASessionThatWaitsForThem) {
    random_streams draw(20261125);
    std::size_t windows = 0;
    for (std::size_t i = 0; i < property_cases(100); ++i) {
        std::vector<source_block> blocks;
        std::int64_t now = -30;
        for (std::uint64_t k = 5 + draw.below(60); k-- > 0;) {
            source_block& block = blocks.emplace_back();
            if (draw.below(15) == 0) {
                block.begins_epoch = true;
                now = static_cast<std::int64_t>(draw.below(50)) - 25;
            }
            if (draw.below(10) == 0) block.missing = 1;
            for (std::uint64_t n = draw.below(8); n-- > 0;)
                block.spikes.push_back({now += static_cast<std::int64_t>(draw.below(4)),
                                        unit_id{static_cast<std::uint32_t>(draw.below(2))}});
        }
        const auto results_of = [&](const window_pace& pace, two_streams& results) {
            session_options options = every_ten_us(pace);
            options.windows->length = duration{static_cast<std::int64_t>(i % 3) * 10};
            options.windows->hop = duration{7};
            options.windows->mining.max_size = 3;
            session live(two_units, options, results);
            for (const source_block& block : blocks) live.take(block, alone);
            live.finish(alone);
        };
        two_streams in_line, beside, with_budget;
        results_of({}, in_line);
        results_of({.beside = true}, beside);
        results_of({.budget = 1h}, with_budget);
        ASSERT_EQ(beside.windows, in_line.windows) << "case " << i;
        ASSERT_EQ(beside.detections, in_line.detections);
        ASSERT_EQ(beside.at_end, in_line.at_end);
        ASSERT_EQ(with_budget.windows, in_line.windows);
        windows += in_line.windows.size();
    }
    EXPECT_GT(windows, property_cases(100));
}

}  // namespace
}  // namespace spikeweave::live
