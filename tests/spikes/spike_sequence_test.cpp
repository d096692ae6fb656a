#include "spikeweave/spikes/spike_sequence.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

constexpr unit_id u0{0};
constexpr unit_id u1{1};

TEST(SpikeSequence, RefusesWhatItPromisesNotToHold) {
    const time_span span{duration{0}, duration{10}};
    EXPECT_NO_THROW(spike_sequence({1, 2}, {u0, u1}, {"a", "b"}, span));
    EXPECT_THROW(spike_sequence({1, 2}, {u0}, {"a"}, span), invalid_argument);
    EXPECT_THROW(spike_sequence({2, 1}, {u0, u0}, {"a"}, span), invalid_argument);
    EXPECT_THROW(spike_sequence({1}, {u1}, {"a"}, span), invalid_argument);
    EXPECT_THROW(spike_sequence({1, 1}, {u0, u0}, {"a"}, span), invalid_argument);
    EXPECT_THROW(spike_sequence({1, 11}, {u0, u0}, {"a"}, span), invalid_argument);
    EXPECT_THROW(spike_sequence({}, {}, {"a", "a"}, span), invalid_argument);
}

TEST(SpikeSequence, FindsUnitsByNameAndSaysWhatThereIs) {
    const spike_sequence spikes({1}, {u1}, {"a", "b"}, {duration{0}, duration{1}});
    EXPECT_EQ(spikes.unit("b"), u1);
    try {
        static_cast<void>(spikes.unit("c"));
        FAIL();
    } catch (const invalid_argument& error) {
        EXPECT_STREQ(error.what(), "no unit is named 'c'; there are 2: a, b");
    }
}

TEST(SpikeSequence, NamesTheUnitThatMayBeMeantIfItDoesNotListAll) {
    std::vector<std::string> names;
    for (int i = 1; i <= 13; ++i) names.push_back(fmt::format("CA1-{}", 100 + i));
    const spike_sequence spikes({1}, {u1}, names, {duration{0}, duration{1}});
    try {
        static_cast<void>(spikes.unit("CA1113"));
        FAIL();
    } catch (const invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "no unit is named 'CA1113'; there are 13: CA1-101, CA1-102, CA1-103, "
                     "CA1-104, CA1-105, CA1-106, CA1-107, CA1-108, CA1-109, CA1-110, CA1-111, "
                     "CA1-112, …; did you mean CA1-113?");
    }
}

TEST(NaturalLess, OrdersNumbersAsNumbers) {
    std::vector<std::string> names{"10", "9", "n10", "n2", "a", "01", "1", "", "n2b"};
    std::sort(names.begin(), names.end(), natural_less);
    EXPECT_EQ(names, (std::vector<std::string>{"", "01", "1", "9", "10", "a", "n2", "n2b", "n10"}));
}

TEST(NaturalOrder, IsOfIndices) {
    const std::vector<std::string> names{"n10", "b", "n2"};
    EXPECT_EQ(natural_order(names), (std::vector<std::uint32_t>{1, 2, 0}));
    EXPECT_TRUE(natural_order({}).empty());
}

TEST(SpikeSequenceBuilder, SortsStablyAndCountsDuplicates) {
    spike_sequence_builder builder;
    const unit_id b = builder.unit("b");
    const unit_id a = builder.unit("a");
    builder.append(5, b);
    builder.append(3, b);
    builder.append(3, a);
    builder.append(5, b);

    const spike_sequence spikes = builder.finish();

    EXPECT_EQ(spikes,
              spike_sequence({3, 3, 5}, {u1, u0, u1}, {"a", "b"}, {duration{3}, duration{5}}));
    EXPECT_EQ(builder.duplicates(), 1U);
    EXPECT_EQ(builder.order().out_of_order(), 1U);
    EXPECT_EQ(builder.size(), 0U);
}

TEST(SpikeSequenceBuilder, WidensTheGivenSpanToHoldEverySpike) {
    spike_sequence_builder builder;
    builder.append(-5, builder.unit("a"));
    EXPECT_EQ(builder.finish({duration{0}, duration{10}}).span(),
              (time_span{duration{-5}, duration{10}}));
    EXPECT_EQ(builder.finish({duration{0}, duration{10}}).span(),
              (time_span{duration{0}, duration{10}}));
}

// There are enough spikes for several runs and pages, in the three orders that files have.
TEST(SpikeSequenceBuilder, EqualsAStableSortForAnyOrderOfInput) {
    std::mt19937_64 random(1);
    struct event {
        std::int64_t time;
        std::uint32_t unit;
    };
    for (const int order : {0, 1, 2}) {
        std::vector<event> events(is_shortened_run() ? 70'000 : 700'000);
        for (auto& e : events)
            e = {static_cast<std::int64_t>(random() % 300'000),
                 static_cast<std::uint32_t>(random() % 12)};
        const auto by_time = [](const event& x, const event& y) { return x.time < y.time; };
        if (order == 1) std::stable_sort(events.begin(), events.end(), by_time);
        if (order == 2) {
            std::stable_sort(events.begin(), events.end(), [](const event& x, const event& y) {
                return x.unit != y.unit ? x.unit < y.unit : x.time < y.time;
            });
        }
        spike_sequence_builder builder;
        for (std::uint32_t u = 0; u < 12; ++u) builder.unit(std::to_string(u));
        for (const auto& e : events) builder.append(e.time, unit_id{e.unit});

        const spike_sequence spikes = builder.finish();

        std::stable_sort(events.begin(), events.end(), by_time);
        std::vector<std::int64_t> times;
        std::vector<unit_id> units;
        std::set<std::uint32_t> at_this_time;
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (i > 0 && events[i].time != events[i - 1].time) at_this_time.clear();
            if (!at_this_time.insert(events[i].unit).second) continue;
            times.push_back(events[i].time);
            units.push_back(unit_id{events[i].unit});
        }
        EXPECT_TRUE(std::equal(times.begin(), times.end(), spikes.times_us().begin(),
                               spikes.times_us().end()));
        EXPECT_TRUE(
            std::equal(units.begin(), units.end(), spikes.units().begin(), spikes.units().end()));
        EXPECT_EQ(builder.duplicates(), events.size() - times.size());
    }
}

TEST(SpikeTrains, HoldEachUnitsTimesAndPlaces) {
    const spike_sequence spikes({1, 2, 2, 7}, {u1, u0, u1, u1}, {"a", "b", "silent"},
                                {duration{0}, duration{7}});

    const spike_trains trains(spikes);

    ASSERT_EQ(trains.unit_count(), 3U);
    EXPECT_EQ(std::vector(trains.times_us(u1).begin(), trains.times_us(u1).end()),
              (std::vector<std::int64_t>{1, 2, 7}));
    EXPECT_EQ(std::vector(trains.positions(u1).begin(), trains.positions(u1).end()),
              (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_EQ(trains.count(unit_id{2}), 0U);
}

}  // namespace
}  // namespace spikeweave
