#include "live/session/event_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

using events = std::vector<spike_event>;

spike_event at(std::int64_t time, std::uint32_t unit) {
    return {time, unit_id{unit}};
}

events copy_of(std::span<const spike_event> some) {
    return {some.begin(), some.end()};
}

TEST(EventOrder, GivesOutSpikesOfAnOrderedSourceAtOnce) {
    event_order order;

    EXPECT_TRUE(order.add(at(5, 1)));
    EXPECT_TRUE(order.add(at(5, 0)));
    EXPECT_EQ(copy_of(order.take()), (events{at(5, 1), at(5, 0)}));
    EXPECT_FALSE(order.add(at(4, 0)));
    EXPECT_TRUE(order.add(at(5, 1))) << "in time, but a duplicate";
    EXPECT_TRUE(order.take().empty());

    EXPECT_EQ(order.watermark(), 5);
    EXPECT_EQ(order.counts(), (order_counts{2, 1, 1}));
}

TEST(EventOrder, WaitsForTheEndOfABlock) {
    event_order order({.policy = order_policy::block});

    order.add(at(7, 0));
    order.add(at(9, 0));
    order.add(at(3, 1));
    order.add(at(7, 1));
    order.add(at(7, 0));
    EXPECT_TRUE(order.take().empty());
    EXPECT_FALSE(order.watermark());
    order.advance(9);

    EXPECT_EQ(copy_of(order.take()), (events{at(3, 1), at(7, 0), at(7, 1)}));
    EXPECT_EQ(order.waiting(), 1U);
    EXPECT_EQ(order.counts(), (order_counts{3, 0, 1}));
}

TEST(EventOrder, WaitsAsLongAsSpikesMayBeLate) {
    event_order order({.policy = order_policy::lateness, .lateness = duration{10}});

    order.add(at(20, 0));
    EXPECT_TRUE(order.add(at(10, 1))) << "just in time";
    EXPECT_FALSE(order.add(at(9, 1)));
    order.add(at(21, 0));

    EXPECT_EQ(order.watermark(), 11);
    EXPECT_EQ(copy_of(order.take()), (events{at(10, 1)}));
    order.advance(100);
    EXPECT_EQ(copy_of(order.take()), (events{at(20, 0), at(21, 0)}));
    EXPECT_EQ(order.counts(), (order_counts{3, 1, 0}));
}

TEST(EventOrder, TrustsASourceLessThatWasWrong) {
    event_order order({.policy = order_policy::block, .most_margin = duration{50}});

    order.advance(1'000);
    EXPECT_FALSE(order.add(at(980, 0)));
    EXPECT_EQ(order.margin(), duration{20});
    EXPECT_FALSE(order.add(at(949, 0))) << "too late to be waited for";
    EXPECT_EQ(order.margin(), duration{20});
    EXPECT_EQ(order.watermark(), 1'000) << "it never goes back";
    order.advance(2'000);
    EXPECT_EQ(order.watermark(), 1'980);
    EXPECT_TRUE(order.add(at(1'980, 0)));
}

TEST(EventOrder, GivesOutAllThatIsLeftAtTheEndOfAnEpoch) {
    event_order order({.policy = order_policy::block});

    order.advance(10);
    order.add(at(30, 0));
    order.add(at(20, 0));
    EXPECT_EQ(copy_of(order.flush()), (events{at(20, 0), at(30, 0)}));
    EXPECT_FALSE(order.watermark());
    EXPECT_TRUE(order.add(at(-5, 0))) << "the clock has started again";
    order.advance(0);
    EXPECT_EQ(copy_of(order.take()), (events{at(-5, 0)}));
}

TEST(EventOrder, TakesAnyTimesAndRefusesNegativeOptions) {
    event_order order({.policy = order_policy::lateness});

    order.add(at(INT64_MIN, 0));
    order.add(at(INT64_MAX, 0));
    EXPECT_EQ(copy_of(order.take()), (events{at(INT64_MIN, 0)}));

    EXPECT_EQ(text_of([] { event_order({.lateness = duration{-1}}); }),
              "`lateness`: it is negative");
    EXPECT_EQ(text_of([] { event_order({.most_margin = duration{-1}}); }),
              "`most_margin`: it is negative");
}

// A block of spikes as Open Ephys sends it: electrode by electrode, the last spikes of the block
// with the next one.
struct block {
    events spikes;
    std::int64_t watermark;
};

std::vector<block> random_blocks(std::mt19937_64& random) {
    std::vector<block> blocks;
    const auto length = static_cast<std::int64_t>(5 + random() % 30);
    events held_back;
    for (std::int64_t begin = 0; begin < 20 * length; begin += length) {
        block& made = blocks.emplace_back();
        made.watermark = begin + length - 3;
        made.spikes = std::exchange(held_back, {});
        for (std::uint64_t k = random() % 12; k-- > 0;) {
            const spike_event spike =
                at(begin + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length)),
                   static_cast<std::uint32_t>(random() % 3));
            (spike.time_us < made.watermark ? made.spikes : held_back).push_back(spike);
        }
        std::sort(made.spikes.begin(), made.spikes.end(),
                  [](const auto& a, const auto& b) { return a.unit < b.unit; });
    }
    blocks.push_back({held_back, 20 * length});
    return blocks;
}

// The whole way: whatever the order of arrival and the times at which spikes are taken, detections
// and windows are those of batch analysis of the spikes that were sent.
TEST(EventOrderProperty, MakesResultsOfBlocksThoseOfTheRecording) {
    std::mt19937_64 random(41);
    const armed_episode armed{{{unit_id{0}, unit_id{1}, unit_id{2}},
                               {{duration{0}, duration{9}}, {duration{2}, duration{20}}}}};
    const episode_window_options options{
        duration{40},
        duration{15},
        {.delays = {{duration{0}, duration{9}}}, .min_count = 2, .max_size = 3}};
    std::size_t detections = 0;
    for (std::size_t i = 0; i < property_cases(1'000); ++i) {
        event_order order({.policy = order_policy::block});
        episode_detector detector({armed}, 3);
        episode_windows windows({"a", "b", "c"}, options);
        std::set<spike_event> sent;
        std::vector<std::vector<std::int64_t>> detected;
        std::vector<episode_window> mined;
        const auto take = [&] {
            for (const auto& [time, unit] : order.take()) {
                for (const auto& [which, times] : detector.add(time, unit))
                    detected.emplace_back(times.begin(), times.end());
                windows.add(time, unit);
            }
            if (order.watermark()) windows.advance(*order.watermark());
            while (auto window = windows.next({.threads = 1})) mined.push_back(std::move(*window));
        };
        for (const auto& [spikes, watermark] : random_blocks(random)) {
            for (const spike_event& spike : spikes) {
                ASSERT_TRUE(order.add(spike));
                sent.insert(spike);
                if (random() % 4 == 0) take();
            }
            order.advance(watermark);
            if (random() % 2 == 0) take();
        }
        take();

        std::vector<std::pair<std::int64_t, unit_id>> in_order;
        for (const auto& [time, unit] : sent) in_order.emplace_back(time, unit);
        const spike_sequence all =
            sequence_of(in_order, {"a", "b", "c"}, {duration{0}, duration{10'000}});
        ASSERT_EQ(order.counts().accepted, all.size());
        ASSERT_EQ(detected, find_occurrences(all, armed.what)) << "case " << i;
        for (const auto& window : mined) {
            const window_bounds& bounds = window.bounds;
            std::erase_if(in_order,
                          [&](const auto& spike) { return duration{spike.first} < bounds.begin; });
            auto inside = in_order;
            std::erase_if(inside,
                          [&](const auto& spike) { return duration{spike.first} >= bounds.end; });
            const auto alone =
                mine_episodes(sequence_of(inside, {"a", "b", "c"}, {bounds.begin, bounds.end}),
                              options.mining, {.threads = 1});
            ASSERT_EQ(window.table.episodes, alone.episodes) << "case " << i;
        }
        detections += detected.size();
        EXPECT_GT(mined.size(), 1U);
    }
    EXPECT_GT(detections, property_cases(1'000));
}

// Spikes that come at random times are either given out in order, once, or counted as late.
TEST(EventOrderProperty, GivesOutOrCountsEverySpike) {
    std::mt19937_64 random(43);
    std::uint64_t late = 0;
    for (std::size_t i = 0; i < property_cases(3'000); ++i) {
        const auto policy = static_cast<order_policy>(random() % 3);
        event_order order({policy, duration{static_cast<std::int64_t>(random() % 20)},
                           duration{static_cast<std::int64_t>(random() % 20)}});
        std::set<spike_event> in_time;
        events given_out;
        order_counts expected;
        std::int64_t now = 0;
        for (int k = 0; k < 60; ++k) {
            now += static_cast<std::int64_t>(random() % 4);
            const spike_event spike = at(now - static_cast<std::int64_t>(random() % 15),
                                         static_cast<std::uint32_t>(random() % 3));
            if (!order.add(spike))
                ++expected.late;
            else if (!in_time.insert(spike).second)
                ++expected.duplicates;
            if (random() % 5 == 0) order.advance(now - static_cast<std::int64_t>(random() % 15));
            if (random() % 3 == 0) {
                for (const spike_event& one : order.take()) given_out.push_back(one);
            }
        }
        for (const spike_event& one : order.flush()) given_out.push_back(one);

        expected.accepted = in_time.size();
        ASSERT_EQ(order.counts(), expected) << "case " << i;
        ASSERT_TRUE(
            std::is_sorted(given_out.begin(), given_out.end(),
                           [](const auto& a, const auto& b) { return a.time_us < b.time_us; }));
        if (policy != order_policy::source) {
            ASSERT_TRUE(std::is_sorted(given_out.begin(), given_out.end()));
        }
        std::sort(given_out.begin(), given_out.end());
        ASSERT_EQ(given_out, events(in_time.begin(), in_time.end()));
        late += expected.late;
    }
    EXPECT_GT(late, property_cases(3'000));
}

}  // namespace
}  // namespace spikeweave::live
