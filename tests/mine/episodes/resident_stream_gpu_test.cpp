#include "mine/episodes/devices/resident_stream.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mine/episodes/devices/device_set.hpp"
#include "mine/episodes/devices/window_occupancy.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/random_streams.hpp"

namespace spikeweave::episodes {
namespace {

constexpr std::int64_t era = std::int64_t{1} << 32;

std::vector<std::uint32_t> on_host(const std::uint32_t* from, std::size_t size) {
    std::vector<std::uint32_t> values(size);
    EXPECT_EQ(cudaMemcpy(values.data(), from, size * sizeof(std::uint32_t), cudaMemcpyDefault),
              cudaSuccess);
    return values;
}

// Makes units, some without spikes, with ties, times before zero, and spikes on both sides of the
// border between eras.
spike_sequence spread(std::size_t spikes, std::uint32_t units, std::int64_t length,
                      std::uint64_t seed) {
    random_streams draw(seed);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    const auto add = [&](std::int64_t time, std::uint64_t unit) {
        all.emplace_back(time, unit_id{static_cast<std::uint32_t>(unit)});
    };
    add(-5, 0);
    if (length > era) {
        add(era - 6, 1);
        add(era - 5, 1);
        add(era - 5, 2);
        add(era - 4, 1);
    }
    for (std::size_t i = all.size(); i < spikes; ++i)
        add(static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(length))) / 10 * 10,
            draw.below(units) / 2 * 2);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < units; ++u) names.push_back(std::to_string(u));
    return sequence_of(std::move(all), std::move(names), {duration{-5}, duration{length}});
}

void expect_the_same(const spike_sequence& spikes) {
    const resident_stream there(spikes, 0);
    const resident_trains trains = there.trains();
    const resident_events events = there.events();
    ASSERT_EQ(events.size, spikes.size());
    const auto low = on_host(events.time_low, events.size);
    const auto units = on_host(events.unit, events.size);
    const auto begins = on_host(events.era_begin, events.eras + 1);
    const auto time = [](std::uint32_t at, std::uint32_t lower, const std::uint32_t* eras,
                         std::uint32_t count) {
        const auto e = std::upper_bound(eras, eras + count, at) - eras - 1;
        return (std::int64_t{e} << 32) + lower;
    };
    for (std::uint32_t i = 0; i < events.size; ++i) {
        ASSERT_EQ(time(i, low[i], begins.data(), events.eras) + spikes.times_us()[0],
                  spikes.times_us()[i]);
        ASSERT_EQ(units[i], to_index(spikes.units()[i]));
    }

    const spike_trains expected(spikes);
    const auto train_low = on_host(trains.time_low, trains.size);
    const auto positions = on_host(trains.position, trains.size);
    const auto train_begin = on_host(trains.begin, trains.units + 1);
    const auto train_eras = on_host(trains.era_begin, trains.units * (trains.eras + 1));
    EXPECT_TRUE(std::equal(train_begin.begin(), train_begin.end(), there.train_begins().begin(),
                           there.train_begins().end()));
    for (std::uint32_t u = 0; u < trains.units; ++u) {
        const auto wanted = expected.positions(unit_id{u});
        ASSERT_EQ(train_begin[u + 1] - train_begin[u], wanted.size());
        const std::uint32_t* const eras = train_eras.data() + u * (trains.eras + 1);
        ASSERT_EQ(eras[0], train_begin[u]);
        ASSERT_EQ(eras[trains.eras], train_begin[u + 1]);
        for (std::uint32_t i = 0; i < wanted.size(); ++i) {
            const std::uint32_t at = train_begin[u] + i;
            ASSERT_EQ(positions[at], wanted[i]);
            ASSERT_EQ(time(at, train_low[at], eras, trains.eras) + spikes.times_us()[0],
                      spikes.times_us()[wanted[i]]);
        }
    }
}

TEST(ResidentStream, HoldsEventsAndTrains) {
    for (const std::size_t size : {1U, 2U, 31U, 257U, 5'000U}) {
        expect_the_same(spread(size, 1, 1'000'000, size));
        expect_the_same(spread(size, 7, 1'000'000, size));
    }
    expect_the_same(spread(5'000, 3'000, 1'000'000, 3));
    // The upload takes several pieces, the last of which is not full.
    expect_the_same(spread(3'500'000, 200, 3'000'000'000, 4));
}

TEST(ResidentStream, CrossesEras) {
    expect_the_same(spread(4'000, 5, era + 10'000, 5));
    expect_the_same(spread(4'000, 5, 9 * era, 6));
    // One era has no spike.
    expect_the_same(sequence_of({{0, unit_id{0}}, {5 * era + 3, unit_id{0}}}, {"a"},
                                {duration{0}, duration{6 * era}}));
}

TEST(ResidentStream, MayBeEmpty) {
    const spike_sequence none({}, {}, {"a", "b"}, {});
    const resident_stream there(none, 0);

    EXPECT_EQ(there.events().size, 0U);
    EXPECT_EQ(there.trains().units, 2U);
    EXPECT_EQ(there.length_us(), 0U);
    EXPECT_EQ(std::vector(there.train_begins().begin(), there.train_begins().end()),
              (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST(DeviceSet, HoldsOneStreamForADeviceThatStandsTwice) {
    const spike_sequence spikes = spread(10, 2, 1'000, 1);
    const execution run{.devices = {0, 0}};
    const counting_problem problem{spikes, {}, tie_rule::time, run};
    const device_set devices(problem);

    ASSERT_EQ(devices.problems().size(), 2U);
    EXPECT_EQ(&devices.problems()[0].data, &devices.problems()[1].data);
}

// Compares the bound that makes lists of fixed size exact with a walk over all windows.
TEST(WindowOccupancy, IsTheLargestNumberOfSpikesInAClosedWindow) {
    for (const std::int64_t length : {std::int64_t{3'000}, 2 * era}) {
        const spike_sequence spikes = spread(6'000, 5, length, 8);
        const execution run{.devices = {0}};
        const counting_problem problem{spikes, {}, tie_rule::time, run};
        const device_set devices(problem);
        std::vector<occupancy_question> questions;
        std::vector<std::uint32_t> expected;
        const spike_trains trains(spikes);
        for (std::uint32_t u = 0; u < 5; ++u) {
            for (const std::int64_t high : {std::int64_t{1}, std::int64_t{10}, std::int64_t{95},
                                            std::int64_t{100'000}, era, 3 * era}) {
                questions.push_back({u, high});
                const auto positions = trains.positions(unit_id{u});
                std::size_t first = 0;
                std::size_t most = 0;
                for (std::size_t i = 0; i < positions.size(); ++i) {
                    while (spikes.times_us()[positions[first]] <
                           spikes.times_us()[positions[i]] - high)
                        ++first;
                    most = std::max(most, i - first + 1);
                }
                expected.push_back(static_cast<std::uint32_t>(most));
            }
        }
        EXPECT_EQ(most_spikes_within(devices.problems()[0], questions).most, expected);
    }
}

}  // namespace
}  // namespace spikeweave::episodes
