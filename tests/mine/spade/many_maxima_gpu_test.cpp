#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mine/spade/many_maxima.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"

// Devices find the same in many recordings as the CPU in each.
namespace spikeweave {
namespace {

using namespace std::chrono_literals;

constexpr spectrum_kind kinds[] = {spectrum_kind::size_count, spectrum_kind::size_count_duration};
const char* const movement_recording = "spade/movement_pghf.spikes.tsv.gz";

std::map<std::uint32_t, occurrence_maxima> maxima_on_devices(
    const std::vector<binned_spikes>& recordings, std::uint32_t window_bins,
    const pattern_mining_options& options, spectrum_kind kind, const std::vector<int>& devices) {
    std::map<std::uint32_t, occurrence_maxima> out;
    find_maxima_on_devices({[&](std::uint32_t which) { return recordings[which]; }, 0,
                            static_cast<std::uint32_t>(recordings.size()), window_bins},
                           options, kind,
                           [&](std::uint32_t which, const occurrence_maxima& maxima) {
                               EXPECT_TRUE(out.emplace(which, maxima).second);
                           },
                           {.devices = devices});
    return out;
}

void expect_the_cpus(random_searches& draw, const recording_size& size, std::uint32_t most_percent,
                     const drawn_thresholds& occ, const std::vector<int>& devices) {
    const std::uint32_t window_bins = 1 + draw.below(draw.chance(20) ? 70 : 8);
    std::vector<binned_spikes> recordings;
    for (std::uint32_t i = 0; i <= draw.below(40); ++i)
        recordings.push_back(draw.recording(size.units, size.bins, most_percent));
    const pattern_mining_options options = draw.options(size.units, occ);
    for (const spectrum_kind kind : kinds)
        ASSERT_EQ(maxima_on_devices(recordings, window_bins, options, kind, devices),
                  maxima_on_cpu(recordings, window_bins, options, kind))
            << described(options) << ", window " << window_bins << ", " << to_string(kind);
}

TEST(SpadeManyMaximaOnDevices, OfSmallRecordings) {
    random_searches draw(11);
    for (std::size_t i = 0; i < property_cases(8000); ++i)
        expect_the_cpus(draw, {1 + draw.below(12), 1 + draw.below(60)}, 40, {.most = 5}, {0});
}

TEST(SpadeManyMaximaOnDevices, OfManyWindows) {
    random_searches draw(12);
    for (std::size_t i = 0; i < property_cases(400); ++i)
        expect_the_cpus(draw, {2 + draw.below(6), 300 + draw.below(700)}, 50,
                        {.least = 40, .most = 120}, {0});
}

TEST(SpadeManyMaximaOnDevices, OnSeveral) {
    random_searches draw(13);
    std::vector<int> all;
    for (const device_info& one : devices()) all.push_back(one.ordinal);
    all.push_back(0);
    for (std::size_t i = 0; i < property_cases(400); ++i)
        expect_the_cpus(draw, {2 + draw.below(10), 20 + draw.below(60)}, 40, {.most = 4}, all);
}

struct published {
    pattern_mining_options options{
        .rules = {{86, 2, 2, 2}, {25, 3, 3, 3}, {12, 4, 4, 4}, {10, 5, 5, 5}, {10, 6, 0, 6}}};
    surrogate_maker maker{read_spikes(shared_data(movement_recording)).spikes,
                          {.method = surrogate_method::dither_spikes_with_refractory_period,
                           .dither = 15ms,
                           .seed = 1},
                          {.bin = 5ms}};
};

TEST(SpadeManyMaximaOnDevices, OfSurrogatesOfThePublishedBenchmark) {
    SPIKEWEAVE_NEEDS_SHARED_DATA(movement_recording);
    const published given;
    std::vector<binned_spikes> recordings;
    for (std::uint32_t which = 0; which < 50; ++which)
        recordings.push_back(given.maker.make(which));
    for (const spectrum_kind kind : kinds) {
        std::map<std::uint32_t, occurrence_maxima> expected;
        std::vector<occurrence_maxima> found(recordings.size());
        std::vector<std::jthread> threads;
        for (std::uint32_t t = 0; t < std::thread::hardware_concurrency(); ++t)
            threads.emplace_back([&, t] {
                for (std::size_t i = t; i < recordings.size();
                     i += std::thread::hardware_concurrency())
                    found[i] = find_occurrence_maxima(spade_windows(recordings[i], 20),
                                                      given.options, kind);
            });
        threads.clear();
        for (std::uint32_t i = 0; i < found.size(); ++i) expected[i] = found[i];
        EXPECT_EQ(maxima_on_devices(recordings, 20, given.options, kind, {0}), expected);
        EXPECT_EQ(maxima_on_devices(recordings, 20, given.options, kind, {0, 0}), expected);
    }
}

TEST(SpadeManyMaximaOnDevices, AStopEndsTheSearchWithinASecond) {
    SPIKEWEAVE_NEEDS_SHARED_DATA(movement_recording);
    const published given;
    std::stop_source stop;
    std::chrono::steady_clock::time_point asked;
    std::jthread asking([&] {
        std::this_thread::sleep_for(1s);
        asked = std::chrono::steady_clock::now();
        stop.request_stop();
    });
    EXPECT_THROW(find_maxima_on_devices(
                     {[&](std::uint32_t which) { return given.maker.make(which); }, 0, 100000, 20},
                     given.options, spectrum_kind::size_count,
                     [](std::uint32_t, const occurrence_maxima&) {},
                     {.stop = stop.get_token(), .devices = {0}}),
                 cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 1s);
}

TEST(SpadeManyMaximaOnDevices, ADeviceThatDoesNotExist) {
    EXPECT_THROW(
        find_maxima_on_devices({[](std::uint32_t) {
                                    return binned_spikes({0, 1}, {0}, 1);
                                },
                                0, 1, 1},
                               {}, spectrum_kind::size_count,
                               [](std::uint32_t, const occurrence_maxima&) {}, {.devices = {1000}}),
        device_error);
}

}  // namespace
}  // namespace spikeweave
