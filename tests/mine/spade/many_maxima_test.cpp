#include "mine/spade/many_maxima.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "mine/spade/devices/search_plan.hpp"
#include "mine/spade/devices/searches.hpp"
#include "mine/spade/emulated_lanes.hpp"
#include "support/run_length.hpp"

// The search of many recordings on devices, with its code run by lanes that are threads: it finds
// what the search on the CPU does.
namespace spikeweave {
namespace {

constexpr spectrum_kind kinds[] = {spectrum_kind::size_count, spectrum_kind::size_count_duration};

struct emulation {
    bool has_many_lanes = false;
    std::uint32_t arena_words = 1U << 16U;
    std::size_t devices = 1;
    int threads = 1;
};

std::map<std::uint32_t, occurrence_maxima> maxima_on_lanes(
    const std::vector<binned_spikes>& recordings, std::uint32_t window_bins,
    const pattern_mining_options& options, spectrum_kind kind, const emulation& how) {
    std::vector<std::unique_ptr<spade::maxima_device>> devices;
    for (std::size_t i = 0; i < how.devices; ++i)
        devices.push_back(std::make_unique<spade::emulated_device>(
            spade::maxima_rules_of(options), how.has_many_lanes, how.arena_words));
    std::map<std::uint32_t, occurrence_maxima> out;
    spade::search_many(devices,
                       {[&](std::uint32_t which) { return recordings[which]; }, 0,
                        static_cast<std::uint32_t>(recordings.size()), window_bins},
                       options, kind,
                       [&](std::uint32_t which, const occurrence_maxima& maxima) {
                           EXPECT_TRUE(out.emplace(which, maxima).second);
                       },
                       {.threads = how.threads});
    return out;
}

void expect_the_cpus(random_searches& draw, const recording_size& size, std::uint32_t most_percent,
                     const drawn_thresholds& occ, const emulation& how) {
    const std::uint32_t window_bins = 1 + draw.below(draw.chance(20) ? 40 : 6);
    std::vector<binned_spikes> recordings;
    for (std::uint32_t i = 0; i <= draw.below(5); ++i)
        recordings.push_back(draw.recording(size.units, size.bins, most_percent));
    const pattern_mining_options options = draw.options(size.units, occ);
    for (const spectrum_kind kind : kinds)
        ASSERT_EQ(maxima_on_lanes(recordings, window_bins, options, kind, how),
                  maxima_on_cpu(recordings, window_bins, options, kind))
            << described(options) << ", window " << window_bins << ", " << to_string(kind);
}

TEST(SpadeManyMaxima, OneLaneFindsWhatTheCpuDoes) {
    random_searches draw(1);
    for (std::size_t i = 0; i < property_cases(2000); ++i)
        expect_the_cpus(draw, {1 + draw.below(8), 1 + draw.below(60)}, 40, {.most = 5}, {});
}

TEST(SpadeManyMaxima, NodesOfManyPlanes) {
    random_searches draw(2);
    for (std::size_t i = 0; i < property_cases(100); ++i)
        expect_the_cpus(draw, {2 + draw.below(6), 300 + draw.below(700)}, 50,
                        {.least = 50, .most = 120}, {});
}

TEST(SpadeManyMaxima, ManyLanesFindWhatTheCpuDoes) {
    random_searches draw(3);
    for (std::size_t i = 0; i < property_cases(12); ++i)
        expect_the_cpus(draw, {1 + draw.below(5), 1 + draw.below(40)}, 30, {.most = 4},
                        {.has_many_lanes = true});
}

TEST(SpadeManyMaxima, WhatDoesNotFitIsSearchedOnTheCpu) {
    random_searches draw(4);
    for (std::size_t i = 0; i < property_cases(100); ++i)
        expect_the_cpus(draw, {2 + draw.below(6), 20 + draw.below(60)}, 50, {.most = 3},
                        {.arena_words = 24});
}

TEST(SpadeManyMaxima, DevicesShareTheRecordings) {
    random_searches draw(5);
    for (std::size_t i = 0; i < property_cases(100); ++i)
        expect_the_cpus(draw, {2 + draw.below(4), 20 + draw.below(60)}, 40, {.most = 4},
                        {.devices = 3});
}

// In a third of the cases there is no device, so that threads have to search all.
TEST(SpadeManyMaxima, ThreadsShareTheRecordingsWithDevices) {
    random_searches draw(6);
    for (std::size_t i = 0; i < property_cases(100); ++i)
        expect_the_cpus(draw, {2 + draw.below(4), 20 + draw.below(60)}, 40, {.most = 4},
                        {.devices = i % 3, .threads = 4});
}

TEST(SpadeManyMaxima, AFailureOfAThreadEndsTheSearch) {
    const auto make = [](std::uint32_t which) {
        if (which == 700) throw std::runtime_error("recording 700");
        return binned_spikes({0, 1}, {0}, 1);
    };
    // Without a device, a thread searches recording 700.
    EXPECT_THROW(spade::search_many({}, {make, 0, 1000, 2}, {}, spectrum_kind::size_count,
                                    [](std::uint32_t, const occurrence_maxima&) {}, {.threads = 3}),
                 std::runtime_error);
}

// The published benchmark on a GPU of 132 multiprocessors.
TEST(SpadeManyMaxima, APlanHasAsManyBlocksAsMemoryHasRoomFor) {
    const spade::maxima_shape shape{
        .recordings = 1, .units = 150, .window_bins = 20, .most_windows = 1500, .row_words = 160};
    const device::device_limits limits{.multiprocessors = 132,
                                       .shared_bytes_per_block = 48U << 10U,
                                       .shared_bytes_per_multiprocessor = 228U << 10U};
    const spade::search_plan whole = spade::plan_maxima(shape, limits, std::uint64_t{20} << 30U);
    EXPECT_EQ(whole.blocks, 264U);
    EXPECT_EQ(whole.warps, spade::search_plan::most_warps);
    EXPECT_LE(whole.warps * whole.shared_bytes, limits.shared_bytes_per_block);
    EXPECT_EQ(spade::plan_maxima(shape, limits, 5 * whole.block_bytes() + 1).blocks, 5U);
    EXPECT_EQ(spade::plan_maxima(shape, limits, whole.block_bytes() - 1).blocks, 0U);
}

TEST(SpadeManyMaxima, APlanPutsManyUnitsIntoTheMemoryOfAWarp) {
    const device::device_limits limits{.multiprocessors = 1,
                                       .shared_bytes_per_block = 48U << 10U,
                                       .shared_bytes_per_multiprocessor = 228U << 10U};
    const auto plan_of = [&](std::uint32_t units) {
        return spade::plan_maxima({.units = units, .window_bins = 2}, limits, 1U << 30U);
    };
    EXPECT_EQ(plan_of(100).shared_bytes, spade::bytes_of_units({.units = 100}));
    EXPECT_EQ(plan_of(10000).shared_bytes, 0U);
    EXPECT_GE(plan_of(10000).warp_bytes - plan_of(100).warp_bytes,
              spade::bytes_of_units({.units = 10000}));
}

}  // namespace
}  // namespace spikeweave
