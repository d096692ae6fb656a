#include "mine/episodes/latest_start/cuda/time_split.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "mine/episodes/devices/device_set.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Returns nullopt if slices cannot count the episode.
std::optional<std::uint64_t> by_slices(const spike_sequence& spikes, const episode& what,
                                       tie_rule ties) {
    std::vector<episodes::interval_us> intervals;
    intervals.reserve(what.delays.size());
    for (const delay_interval& d : what.delays)
        intervals.push_back({d.low.count(), d.high.count()});
    std::vector<std::uint32_t> delays(intervals.size());
    std::iota(delays.begin(), delays.end(), 0U);
    const execution run{.devices = {0}};
    const episodes::counting_problem problem{spikes, intervals, ties, run};
    const episodes::device_set devices(problem);
    const auto counted = episodes::count_by_time_slices(
        devices.problems()[0], {what.units.size(), what.units, std::move(delays)});
    if (!counted) return {};
    return counted->counts.at(0);
}

// The numbers of episodes that slices counted and of those that are too dense for them.
struct tally {
    std::size_t counted = 0;
    std::string left{};
};

tally counted_as_on_the_cpu(const spike_sequence& spikes, const std::vector<episode>& all) {
    tally made;
    for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
        const auto expected = count_episodes(spikes, all, {.ties = ties}).counts;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto count = by_slices(spikes, all[i], ties);
            if (!count) {
                made.left += ' ' + std::to_string(i);
                continue;
            }
            ++made.counted;
            EXPECT_EQ(*count, expected[i]) << to_string(ties) << ", size " << all[i].units.size();
        }
    }
    return made;
}

// Makes episodes whose steps are at most a few times the distance of two spikes of a unit.
std::vector<episode> episodes_of(std::uint64_t seed, std::uint32_t units, std::size_t count,
                                 duration grid) {
    random_streams draw(seed);
    std::vector<episode> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = 2 + i % 7;
        for (std::size_t k = 0; k < size; ++k) {
            all[i].units.push_back(unit_id{static_cast<std::uint32_t>(draw.below(units))});
            if (k == 0) continue;
            const auto low = static_cast<std::int64_t>(draw.below(3));
            const auto width = static_cast<std::int64_t>(1 + draw.below(4));
            all[i].delays.push_back({grid * low, grid * (low + width)});
        }
    }
    return all;
}

// Several slices, ties, repeated units, every supported size, and survivors that begin and end on
// both sides of borders.
TEST(TimeSlices, CountAsTheCpuDoes) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        // Each unit has a spike every 40 microseconds.
        const spike_sequence spikes = bursting_stream(seed, 8, 160'000, 800'000);
        const std::vector<episode> all = episodes_of(seed, 8, 28, 10us);
        EXPECT_GT(counted_as_on_the_cpu(spikes, all).counted, all.size());
    }
}

TEST(TimeSlices, CountUnitsOfUnlikeRates) {
    random_streams draw(4);
    spike_sequence_builder builder;
    const std::array ids{builder.unit("0: seldom"), builder.unit("1: often"),
                         builder.unit("2: never"), builder.unit("3: at first")};
    for (int i = 0; i < 60'000; ++i) {
        const auto time = static_cast<std::int64_t>(draw.below(3'000'000));
        builder.append(time, ids[i % 10 == 0 ? 0 : 1]);
        if (time < 200'000) builder.append(time, ids[3]);
    }
    const spike_sequence spikes = builder.finish();
    std::vector<episode> all;
    for (const auto& [from, to] : {std::pair{0U, 1U}, {1U, 0U}, {1U, 1U}, {0U, 2U}, {2U, 0U}}) {
        all.push_back({{ids[from], ids[to]}, {{0us, 50us}}});
        all.push_back({{ids[from], ids[to], ids[from]}, {{5us, 30us}, {0us, 20us}}});
    }
    EXPECT_EQ(counted_as_on_the_cpu(spikes, all).left, "");
    // The unit that falls silent has too many spikes in one slice.
    const std::vector<episode> uneven{{{ids[3], ids[0]}, {{0us, 50us}}},
                                      {{ids[3], ids[0], ids[3]}, {{0us, 50us}, {0us, 20us}}}};
    EXPECT_NE(counted_as_on_the_cpu(spikes, uneven).left, "");
}

// Survivors are rare, so a slice learns the state from one far before it.
TEST(TimeSlices, CountWhereFewSurvive) {
    random_streams draw(5);
    spike_sequence_builder builder;
    const std::array ids{builder.unit("0"), builder.unit("1"), builder.unit("2")};
    for (int i = 0; i < 100'000; ++i)
        builder.append(static_cast<std::int64_t>(draw.below(10'000'000)), ids[draw.below(3)]);
    const spike_sequence spikes = builder.finish();
    const std::vector<episode> all{{{ids[0], ids[1], ids[2]}, {{0us, 1us}, {0us, 20us}}},
                                   {{ids[0], ids[1], ids[2]}, {{0us, 20us}, {400us, 401us}}},
                                   {{ids[2], ids[2]}, {{100us, 101us}}}};
    EXPECT_EQ(counted_as_on_the_cpu(spikes, all).left, "");
}

// With long delays, occurrences extend over many spikes, some over whole slices.
TEST(TimeSlices, CountOrLeaveWhatOverlapsForLong) {
    const spike_sequence spikes = bursting_stream(6, 3, 120'000, 1'200'000);
    std::vector<episode> all;
    for (const std::int64_t reach : {40, 200, 1'000, 4'000, 20'000, 100'000}) {
        all.push_back({{unit_id{0}, unit_id{1}}, {{0us, duration{reach}}}});
        all.push_back({{unit_id{0}, unit_id{1}, unit_id{2}},
                       {{duration{reach / 2}, duration{reach}}, {0us, duration{reach}}}});
    }
    const tally made = counted_as_on_the_cpu(spikes, all);
    EXPECT_GT(made.counted, 4U);
    EXPECT_NE(made.left, "");
}

TEST(TimeSlices, CountFewSpikes) {
    random_streams draw(7);
    std::size_t counted = 0;
    for (std::size_t i = 0; i < property_cases(2'000); ++i) {
        const spike_sequence spikes = draw.spikes(60, 3);
        if (spikes.empty()) continue;
        counted += counted_as_on_the_cpu(spikes, {draw.episode(2 + i % 7, 3)}).counted;
    }
    EXPECT_GE(counted, 5U);
}

}  // namespace
}  // namespace spikeweave
