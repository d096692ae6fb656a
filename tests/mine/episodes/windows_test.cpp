#include "spikeweave/mine/episodes/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

duration micros(std::int64_t count) {
    return duration{count};
}

episode_window_options of_length(std::int64_t length, std::int64_t hop) {
    return {micros(length), micros(hop), {.delays = {{micros(0), micros(5)}}, .min_count = 1}};
}

TEST(SilentWindows, CanBeLeftOut) {
    for (const std::int64_t length : {0, 10, 30}) {
        episode_windows windows({"a"}, of_length(length, 10));
        windows.add(5, unit_id{0});
        windows.advance(1'000);
        while (!windows.next_is_silent()) ASSERT_TRUE(windows.take());
        const auto next = windows.complete();
        const auto left_out = windows.skip_silent();
        ASSERT_TRUE(left_out);
        EXPECT_EQ(left_out->first, next);
        EXPECT_EQ(left_out->first.number, 1);
        EXPECT_LE(left_out->last.end, micros(1'000));
        EXPECT_GT(left_out->last.end + micros(10), micros(1'000));
        EXPECT_FALSE(windows.take());
        windows.add(1'005, unit_id{0});
        windows.advance(1'100);
        const auto after = windows.take();
        ASSERT_TRUE(after);
        EXPECT_EQ(after->bounds().number, left_out->last.number + 1);
        EXPECT_EQ(after->size(), length == 0 ? 2U : 1U);
    }
}

// The spikes in [begin, end).
spike_sequence slice(const spike_sequence& all, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all.times_us()[i] < begin || all.times_us()[i] >= end) continue;
        times.push_back(all.times_us()[i]);
        units.push_back(all.units()[i]);
    }
    return {times, units, all.unit_names(), {micros(begin), micros(end)}};
}

std::int64_t rounded_down(double number) {
    return static_cast<std::int64_t>(std::floor(number));
}

// Straight from the definition: all windows that end at `watermark` or before.
std::vector<window_bounds> windows_until(std::int64_t watermark, std::int64_t first_spike,
                                         const episode_window_options& options) {
    const std::int64_t length = options.length.count();
    const std::int64_t hop = options.hop == micros(0) ? length : options.hop.count();
    const std::int64_t first =
        rounded_down(static_cast<double>(first_spike) / static_cast<double>(hop));
    std::vector<window_bounds> windows;
    for (std::int64_t k = first;; ++k) {
        const window_bounds bounds =
            length == 0 ? window_bounds{k, micros(first * hop), micros((k + 1) * hop)}
                        : window_bounds{k, micros(k * hop), micros(k * hop + length)};
        if (bounds.end > micros(watermark)) return windows;
        windows.push_back(bounds);
    }
}

void expect_equal(const episode_window& window, const spike_sequence& spikes,
                  const episode_mining_options& options) {
    const auto [number, begin, end] = window.bounds;
    const spike_sequence in_window = slice(spikes, begin.count(), end.count());
    const episode_table expected = mine_episodes(in_window, options, {.threads = 1});
    ASSERT_EQ(window.table.episodes, expected.episodes)
        << "window " << number << " [" << begin.count() << "," << end.count() << ")";
    ASSERT_EQ(window.table.threshold, expected.threshold);
    ASSERT_EQ(window.table.levels.size(), expected.levels.size());
    for (std::size_t i = 0; i < expected.levels.size(); ++i) {
        ASSERT_EQ(window.table.levels[i].candidates, expected.levels[i].candidates);
        ASSERT_EQ(window.table.levels[i].frequent, expected.levels[i].frequent);
    }
    ASSERT_EQ(window.table.warnings, expected.warnings);
    ASSERT_EQ(window.spikes, in_window.size());
}

class EpisodeWindows : public ::testing::Test {
protected:
    static constexpr unit_id a{0};
    static constexpr unit_id b{1};
};

TEST(EpisodeWindowOptions, HaveTheDefaultDelays) {
    EXPECT_EQ(episode_window_options{}.mining.delays, default_delays());
}

TEST_F(EpisodeWindows, HoldTheirBeginAndNotTheirEnd) {
    episode_windows windows({"a", "b"}, of_length(10, 5));

    windows.add(0, a);
    windows.add(9, a);
    EXPECT_FALSE(windows.complete());
    windows.add(10, b);
    EXPECT_EQ(windows.complete(), (window_bounds{0, micros(0), micros(10)}));
    const auto first = windows.next();
    EXPECT_EQ(first->spikes, 2U);
    EXPECT_FALSE(windows.next());
    windows.advance(20);
    EXPECT_EQ(windows.next()->bounds, (window_bounds{1, micros(5), micros(15)}));
    const auto third = windows.next();

    EXPECT_EQ(third->bounds, (window_bounds{2, micros(10), micros(20)}));
    EXPECT_EQ(third->spikes, 1U);
    EXPECT_EQ(third->table.episodes, (std::vector<counted_episode>{{{{b}, {}}, 1}}));
}

TEST_F(EpisodeWindows, BeginBeforeTheFirstSpikeAlsoBeforeTimeZero) {
    episode_windows windows({"a"}, of_length(10, 10));

    windows.advance(-50);
    EXPECT_FALSE(windows.complete()) << "there was no spike";
    windows.add(-1, a);
    windows.advance(0);

    EXPECT_EQ(windows.next()->bounds, (window_bounds{-1, micros(-10), micros(0)}));
}

TEST_F(EpisodeWindows, MayBeEmptyAndLeftOut) {
    episode_windows windows({"a"}, of_length(10, 10));

    windows.add(5, a);
    windows.advance(30);
    EXPECT_EQ(windows.skip(), (window_bounds{0, micros(0), micros(10)}));
    const auto empty = windows.next();
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->spikes, 0U);
    EXPECT_TRUE(empty->table.episodes.empty());
    EXPECT_TRUE(windows.skip());
    EXPECT_FALSE(windows.skip());
}

TEST_F(EpisodeWindows, GrowFromTheFirst) {
    episode_windows windows({"a", "b"}, of_length(0, 10));

    windows.add(12, a);
    windows.add(15, b);
    windows.add(21, a);
    windows.advance(30);

    EXPECT_EQ(windows.next()->bounds, (window_bounds{1, micros(10), micros(20)}));
    const auto second = windows.next();
    EXPECT_EQ(second->bounds, (window_bounds{2, micros(10), micros(30)}));
    EXPECT_EQ(second->spikes, 3U);
    EXPECT_EQ(windows.spikes_kept(), 3U);
}

TEST_F(EpisodeWindows, KeepOnlyTheSpikesOfWindowsToCome) {
    episode_windows windows({"a"}, of_length(5, 20));

    for (std::int64_t time = 0; time < 100; ++time) {
        windows.add(time, a);
        while (const auto window = windows.next()) {
            ASSERT_EQ(window->spikes, 5U);
        }
        ASSERT_LE(windows.spikes_kept(), 15U);
    }
}

TEST_F(EpisodeWindows, SpanNoTwoEpochs) {
    episode_windows windows({"a"}, of_length(10, 10));

    windows.add(105, a);
    windows.advance(110);
    windows.flush();
    EXPECT_FALSE(windows.complete());
    windows.add(3, a);
    windows.add(10, a);

    const auto window = windows.next();
    EXPECT_EQ(window->bounds, (window_bounds{0, micros(0), micros(10)}));
    EXPECT_EQ(window->spikes, 1U);
}

TEST_F(EpisodeWindows, RefuseInvalidSpikesAndGoOn) {
    episode_windows windows({"a", "b"}, of_length(10, 10));
    windows.add(3, a);
    windows.add(3, a);
    windows.advance(5);

    EXPECT_EQ(text_of([&] { windows.add(4, b); }),
              "a spike at 4 us is earlier than 5 us, before which all spikes had arrived");
    EXPECT_EQ(text_of([&] { windows.add(6, unit_id{2}); }),
              "a spike belongs to unit 2, but there are 2 units");
    EXPECT_EQ(text_of([&] { windows.add(std::vector<std::int64_t>{}, std::vector{a}); }),
              "0 times for 1 units of spikes");
    windows.add(5, b);
    windows.advance(10);
    EXPECT_EQ(windows.next()->spikes, 2U);
    EXPECT_EQ(windows.duplicates(), 1U);
}

TEST_F(EpisodeWindows, RefuseInvalidOptions) {
    const auto text = [](const episode_window_options& options,
                         const std::vector<std::string>& names = {"a"}) {
        return text_of([&] { episode_windows(names, options); });
    };
    EXPECT_EQ(text({.mining = {}}), "no delay interval is given");
    EXPECT_EQ(text(of_length(0, 0)), "`hop`: growing windows need one");
    EXPECT_EQ(text(of_length(-1, 1)).substr(0, 9), "`window`:");
    EXPECT_EQ(text(of_length(1, -1)).substr(0, 6), "`hop`:");
    EXPECT_EQ(text(of_length(1, 1), {"a", "a"}), "two units have the same name");
}

// A window whose search fails can be searched again or left out.
TEST_F(EpisodeWindows, StayNextIfMiningIsStopped) {
    episode_windows windows({"a"}, of_length(10, 10));
    windows.add(5, a);
    windows.advance(10);
    std::stop_source stopped;
    stopped.request_stop();

    EXPECT_THROW(windows.next({.stop = stopped.get_token()}), cancelled);
    EXPECT_EQ(windows.next()->bounds.number, 0);
}

// Every window equals the search of its spikes alone, whatever the hop, however the stream is cut
// into messages, with spikes at the borders and empty windows.
TEST(EpisodeWindowsProperty, AreMinedAsTheirSpikesAlone) {
    random_streams draw(20261119);
    const std::size_t cases = property_cases(4'000);
    std::uint64_t mined = 0;
    std::uint64_t empty = 0;
    std::uint64_t larger_than_units = 0;
    for (std::size_t i = 0; i < cases; ++i) {
        const spike_sequence spikes = draw.spikes(60, 3);
        if (spikes.empty()) continue;
        episode_window_options options = of_length(static_cast<std::int64_t>(draw.below(25)),
                                                   static_cast<std::int64_t>(draw.below(30)));
        if (options.length == micros(0) && options.hop == micros(0)) options.hop = micros(7);
        options.mining.delays = {draw.interval(), draw.interval()};
        options.mining.min_count = 1 + draw.below(4);
        options.mining.max_size = 1 + draw.below(4);
        options.mining.ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        options.mining.self_repeats = draw.below(2) == 0;
        options.method = draw.below(2) == 0 ? window_method::incremental : window_method::remine;
        episode_windows windows(spikes.unit_names(), options);
        std::vector<window_bounds> seen;
        const auto take = [&] {
            while (const auto window = windows.next({.threads = 1})) {
                expect_equal(*window, spikes, options.mining);
                seen.push_back(window->bounds);
                empty += window->spikes == 0 ? 1 : 0;
                larger_than_units += window->table.levels.size() > 2 ? 1 : 0;
            }
        };
        for (std::size_t at = 0; at < spikes.size();) {
            const std::size_t size = std::min<std::size_t>(1 + draw.below(9), spikes.size() - at);
            windows.add(spikes.times_us().subspan(at, size), spikes.units().subspan(at, size));
            at += size;
            if (at < spikes.size() && draw.below(2) == 0) windows.advance(spikes.times_us()[at]);
            if (draw.below(2) == 0) take();
            ASSERT_FALSE(HasFatalFailure()) << "case " << i;
        }
        const auto watermark = spikes.times_us().back() + static_cast<std::int64_t>(draw.below(80));
        windows.advance(watermark);
        take();
        ASSERT_EQ(seen, windows_until(watermark, spikes.times_us().front(), options));
        mined += seen.size();
    }
    EXPECT_GT(mined, 5 * cases);
    EXPECT_GT(empty, cases / 10);
    EXPECT_GT(larger_than_units, cases / 10);
}

// Windows that were taken keep their spikes while the stream goes on in another thread, across the
// chunks in which spikes are kept.
TEST(EpisodeWindowsProperty, KeepTheirSpikesWhileTheStreamGoesOn) {
    for (std::uint64_t seed = 0; seed < property_cases(4); ++seed) {
        const spike_sequence spikes = bursting_stream(seed, 6, 30'000, 1'000'000);
        episode_window_options options = of_length(seed % 3 == 2 ? 0 : 300'000, 50'000);
        options.mining.min_count = 500;
        options.mining.max_size = 2;
        episode_windows windows(spikes.unit_names(), options);
        std::vector<window_spikes> taken;
        std::mutex access;
        std::size_t checked = 0;
        std::jthread checks([&](const std::stop_token& over) {
            while (true) {
                const bool is_last = over.stop_requested();
                std::vector<window_spikes> now;
                {
                    const std::lock_guard lock(access);
                    now.swap(taken);
                }
                for (const window_spikes& window : now) {
                    const auto [number, begin, end] = window.bounds();
                    const spike_sequence expected = slice(spikes, begin.count(), end.count());
                    const spike_sequence sequence = window.sequence();
                    EXPECT_TRUE(std::ranges::equal(sequence.times_us(), expected.times_us()));
                    EXPECT_TRUE(std::ranges::equal(sequence.units(), expected.units()));
                    EXPECT_EQ(window.size(), expected.size());
                    EXPECT_EQ(sequence.span(), expected.span());
                    EXPECT_GE(sequence.unit_count(), spikes.unit_count());
                    ++checked;
                }
                if (is_last) return;
            }
        });
        std::size_t added = 0;
        const auto take = [&] {
            while (auto window = windows.take()) {
                const std::lock_guard lock(access);
                taken.push_back(std::move(*window));
            }
        };
        for (std::size_t i = 0; i < spikes.size(); ++i) {
            windows.add(spikes.times_us()[i], spikes.units()[i]);
            take();
            if (options.length > micros(0)) {
                ASSERT_LT(windows.spikes_kept(), spikes.size() / 2);
            }
            if (i % 500 == 0) windows.add_unit("later " + std::to_string(added++));
        }
        windows.advance(1'000'000);
        take();
        EXPECT_FALSE(windows.complete());
        checks.request_stop();
        checks.join();
        EXPECT_EQ(checked, options.length == micros(0) ? 20U : 15U);
    }
}

TEST(EpisodeWindowsProperty, AreMinedAsTheirSpikesAloneInBursts) {
    for (std::uint64_t seed = 0; seed < property_cases(6); ++seed) {
        const spike_sequence spikes = bursting_stream(seed, 6, 4'000, 100'000);
        episode_window_options options = of_length(seed % 3 == 0 ? 0 : 20'000, 5'000);
        options.mining = {.delays = {{micros(0), micros(30)}, {micros(30), micros(60)}},
                          .max_size = 5};
        if (seed % 2 == 0) options.mining.min_fraction = 0.01;
        options.method = seed % 4 < 2 ? window_method::incremental : window_method::remine;
        episode_windows windows(spikes.unit_names(), options);
        windows.add(spikes.times_us(), spikes.units());
        windows.advance(100'000);
        std::size_t mined = 0;
        while (const auto window = windows.next({.threads = 1})) {
            expect_equal(*window, spikes, options.mining);
            ASSERT_GT(window->table.episodes.size(), 6U);
            ++mined;
        }
        EXPECT_EQ(mined, seed % 3 == 0 ? 20U : 17U);
    }
}

}  // namespace
}  // namespace spikeweave
