#include "spikeweave/mine/episodes/tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mine/episodes/tracker/survivor_window.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

delay_interval step(std::int64_t low, std::int64_t high) {
    return {duration{low}, duration{high}};
}

class EpisodeTracker : public ::testing::Test {
protected:
    static constexpr unit_id a{0};
    static constexpr unit_id b{1};
    const std::vector<episode> pair{{{a, b}, {step(0, 5)}}};
};

TEST_F(EpisodeTracker, CountsWhatIsInTheWindow) {
    episode_tracker tracker(pair, 2, duration{10});

    EXPECT_EQ(tracker.count(0), 0U);
    tracker.add(1, a);
    tracker.add(2, b);
    EXPECT_EQ(tracker.count(0), 1U);
    tracker.add(5, a);
    tracker.add(6, a);
    tracker.add(7, b);
    tracker.add(8, b);
    EXPECT_EQ(tracker.count(0), 2U) << "these overlap";
    tracker.advance(11);
    EXPECT_EQ(tracker.count(0), 2U) << "the window is [1, 11)";
    tracker.advance(12);
    EXPECT_EQ(tracker.count(0), 1U);
    tracker.advance(15);
    EXPECT_EQ(tracker.count(0), 1U);
    tracker.advance(16);
    EXPECT_EQ(tracker.count(0), 1U) << "that of 6 and 7 is left";
    tracker.advance(17);
    EXPECT_EQ(tracker.count(0), 0U);
    EXPECT_EQ(tracker.survivors_kept(), 0U);
}

TEST_F(EpisodeTracker, MayGrow) {
    episode_tracker tracker(pair, 2, duration{0});
    for (std::int64_t time = 0; time < 1000; time += 10) {
        tracker.add(time, a);
        tracker.add(time + 3, b);
    }
    EXPECT_EQ(tracker.count(0), 100U);
    EXPECT_EQ(tracker.survivors_kept(), 0U) << "only the total is needed";
}

TEST_F(EpisodeTracker, BeginsAnewInAnEpoch) {
    episode_tracker tracker(pair, 2, duration{100});
    tracker.add(50, a);
    tracker.add(52, b);
    tracker.add(60, a);
    tracker.flush();

    tracker.add(3, b);
    EXPECT_EQ(tracker.count(0), 0U);
    tracker.add(4, a);
    tracker.add(6, b);
    EXPECT_EQ(tracker.count(0), 1U);
}

TEST_F(EpisodeTracker, RefusesInvalidSpikesAndGoesOn) {
    episode_tracker tracker(pair, 2, duration{10});
    tracker.add(3, a);
    tracker.add(3, b);
    tracker.advance(4);
    tracker.add(3, b);
    EXPECT_EQ(text_of([&] { tracker.add(2, a); }),
              "a spike at 2 us is earlier than the one before it, at 3 us");
    tracker.advance(6);
    EXPECT_EQ(text_of([&] { tracker.add(5, a); }),
              "a spike at 5 us is earlier than 6 us, before which all spikes had arrived");
    EXPECT_EQ(text_of([&] { tracker.add(3, a); }),
              "a spike at 3 us is earlier than 6 us, before which all spikes had arrived");
    EXPECT_EQ(text_of([&] { tracker.add(7, unit_id{2}); }),
              "a spike belongs to unit 2, but there are 2 units");
    tracker.add(6, b);
    EXPECT_EQ(tracker.count(0), 1U);
    EXPECT_EQ(text_of([&] { tracker.count(1); }), "there is no episode 1 among 1");
}

TEST_F(EpisodeTracker, RefusesInvalidEpisodes) {
    EXPECT_EQ(text_of([&] { episode_tracker(pair, 2, duration{-1}); }), "`length`: it is negative");
    EXPECT_THROW(episode_tracker(pair, 1, duration{1}), invalid_argument);
    const std::vector<episode> many(episode_tracker::most_episodes + 1, pair[0]);
    EXPECT_EQ(text_of([&] { episode_tracker(many, 2, duration{1}); }),
              "10001 episodes were given to track, but at most 10000 can be tracked");
}

// Lists of survivors as they may be: ends increase, and latest starts do not decrease. The count in
// each window is that of a greedy choice from its first survivor on.
TEST(SurvivorWindowProperty, CountsFromAnyBegin) {
    random_streams draw(20261126);
    std::size_t counted = 0;
    for (std::size_t i = 0; i < property_cases(2'000); ++i) {
        struct survivor {
            std::int64_t start;
            std::int64_t end;
        };
        std::vector<survivor> all;
        episodes::survivor_window<survivor> window(false);
        std::int64_t start = 0, end = 0, begin = 0;
        for (std::uint64_t n = draw.below(40); n-- > 0;) {
            end += 1 + static_cast<std::int64_t>(draw.below(4));
            const bool meets = draw.below(4) == 0;
            start = std::max(start, end - static_cast<std::int64_t>(meets ? 0 : draw.below(30)));
            start = std::min(start, end);
            all.push_back({start, end});
            window.add(all.back());
            begin += static_cast<std::int64_t>(draw.below(3) == 0 ? draw.below(8) : 0);
            begin = std::min(begin, end);
            window.drop_while([begin](const survivor& one) { return one.start < begin; });
            std::uint64_t expected = 0;
            std::int64_t last = INT64_MIN;
            for (const auto& [first, final] : all) {
                if (first < begin || first <= last) continue;
                last = final;
                ++expected;
            }
            ASSERT_EQ(window.count(), expected) << "case " << i;
            ++counted;
        }
    }
    EXPECT_GT(counted, 10 * property_cases(2'000));
}

struct windows_seen {
    std::uint64_t windows = 0;
    std::uint64_t with_occurrences = 0;
};

// Follows a stream and compares all episodes with `count_episodes` in the window alone.
void follow(const spike_sequence& spikes, std::span<const episode> tracked, duration length,
            tie_rule ties, random_streams& draw, windows_seen& seen) {
    episode_tracker tracker(tracked, spikes.unit_count(), length, ties);
    const auto times = spikes.times_us();
    std::size_t first = 0;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        tracker.add(times[i], spikes.units()[i]);
        std::int64_t end = times[i] + 1;
        if (i + 1 < spikes.size() && times[i + 1] > end && draw.below(2) == 0) {
            end += static_cast<std::int64_t>(
                draw.below(static_cast<std::uint64_t>(times[i + 1] - end) + 1));
            tracker.advance(end);
        }
        if (draw.below(2) == 0) continue;
        const std::int64_t begin = length == duration{0} ? INT64_MIN : end - length.count();
        while (first < i && times[first] < begin) ++first;
        const std::size_t from = times[first] < begin ? first + 1 : first;
        const spike_sequence window({times.begin() + static_cast<std::ptrdiff_t>(from),
                                     times.begin() + static_cast<std::ptrdiff_t>(i) + 1},
                                    {spikes.units().begin() + static_cast<std::ptrdiff_t>(from),
                                     spikes.units().begin() + static_cast<std::ptrdiff_t>(i) + 1},
                                    spikes.unit_names(),
                                    {duration{times[from <= i ? from : i]}, duration{end}});
        const auto expected =
            count_episodes(window, tracked, {.ties = ties}, {.threads = 1}).counts;
        std::vector<std::uint64_t> counts;
        for (std::size_t e = 0; e < tracked.size(); ++e) counts.push_back(tracker.count(e));
        ASSERT_EQ(counts, expected) << "in [" << begin << "," << end << ")";
        ++seen.windows;
        seen.with_occurrences += std::ranges::any_of(counts, [](auto n) { return n > 1; }) ? 1 : 0;
    }
}

// 100,000 windows in a usual run.
TEST(EpisodeTrackerProperty, CountsAsInTheWindowAlone) {
    random_streams draw(20261127);
    windows_seen seen;
    const std::size_t cases = property_cases(6'000);
    for (std::size_t i = 0; i < cases; ++i) {
        const auto units = static_cast<std::uint32_t>(1 + draw.below(4));
        const spike_sequence spikes = draw.spikes(80, units);
        if (spikes.empty()) continue;
        std::vector<episode> tracked;
        for (std::uint64_t n = 1 + draw.below(6); n-- > 0;)
            tracked.push_back(
                draw.episode(1 + draw.below(5), static_cast<std::uint32_t>(spikes.unit_count())));
        const auto length = duration{static_cast<std::int64_t>(draw.below(120))};
        const tie_rule ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        follow(spikes, tracked, length, ties, draw, seen);
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "case " << i;
    }
    EXPECT_GT(seen.windows, 15 * cases);
    EXPECT_GT(seen.with_occurrences, cases);
}

TEST(EpisodeTrackerProperty, CountsAsInTheWindowAloneInBursts) {
    random_streams draw(20261128);
    windows_seen seen;
    for (std::uint64_t seed = 0; seed < property_cases(4); ++seed) {
        const spike_sequence spikes = bursting_stream(seed, 4, 800, 20'000);
        std::vector<episode> tracked;
        for (std::size_t n = 0; n < 10; ++n) {
            episode what = draw.episode(2 + n % 4, 4);
            for (delay_interval& one : what.delays) one = {one.low * 10, one.high * 10};
            tracked.push_back(what);
        }
        follow(spikes, tracked, duration{3'000}, seed % 2 == 0 ? tie_rule::time : tie_rule::order,
               draw, seen);
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
    }
    EXPECT_GT(seen.with_occurrences, 50U);
}

}  // namespace
}  // namespace spikeweave
