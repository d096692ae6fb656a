#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mine/spade/device_searches.hpp"
#include "spikeweave/core/error.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"

// The patterns that a device finds are those of the CPU, in the same order.
namespace spikeweave {
namespace {

using namespace std::chrono_literals;

const char* const published_windows = "spade/movement_pghf.transactions.txt.gz";

pattern_mining_result mine_on_device(const spade_windows& windows,
                                     const pattern_mining_options& options) {
    return mine_patterns(windows, options, {.devices = {0}});
}

TEST(SpadePatternsOnDevice, OfSmallRecordings) {
    random_searches draw(31);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(4000); ++i)
        expect_patterns_of_the_cpu(draw, {1 + draw.below(12), 1 + draw.below(60)}, 40, {.most = 5},
                                   compared, mine_on_device);
    expect_enough(compared, 4000);
}

TEST(SpadePatternsOnDevice, OfManyWindows) {
    random_searches draw(32);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(200); ++i)
        expect_patterns_of_the_cpu(draw, {2 + draw.below(6), 300 + draw.below(700)}, 50,
                                   {.least = 40, .most = 120}, compared, mine_on_device);
    expect_enough(compared, 200);
}

TEST(SpadePatternsOnDevice, OfThePublishedBenchmark) {
    SPIKEWEAVE_NEEDS_SHARED_DATA(published_windows);
    const spade_windows windows = read_transactions(shared_data(published_windows), 20);
    const pattern_mining_options options{
        .rules = {{88, 2, 0, 2}, {25, 3, 0, 3}, {12, 4, 0, 4}, {10, 5, 0, 5}}};
    const pattern_mining_result expected = mine_patterns(windows, options);
    const pattern_mining_result found = mine_on_device(windows, options);
    EXPECT_GT(found.table.size(), 10'000'000U);
    EXPECT_TRUE(found.table == expected.table);
    EXPECT_EQ(found.summary.closed, expected.summary.closed);
}

TEST(SpadePatternsOnDevice, AStopEndsTheSearchWithinASecond) {
    SPIKEWEAVE_NEEDS_SHARED_DATA(published_windows);
    const spade_windows windows = read_transactions(shared_data(published_windows), 20);
    std::stop_source stop;
    std::chrono::steady_clock::time_point asked;
    std::jthread asking([&] {
        std::this_thread::sleep_for(1s);
        asked = std::chrono::steady_clock::now();
        stop.request_stop();
    });
    const pattern_mining_options endless{.rules = {{2, 2, 0, 2}}};
    EXPECT_THROW(mine_patterns(windows, endless, [](const pattern_table&) {},
                               {.stop = stop.get_token(), .devices = {0}}),
                 cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 1s);
}

TEST(SpadePatternsOnDevice, WhatADeviceCannotSearch) {
    const spade_windows windows(binned_spikes({0, 1}, {0}, 1), 1);
    EXPECT_THROW(mine_on_device(windows, {.strategy = spade_strategy::fp_growth}),
                 invalid_argument);
    EXPECT_THROW(mine_patterns(windows, {}, {.devices = {1000}}), device_error);
}

}  // namespace
}  // namespace spikeweave
