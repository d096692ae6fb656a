#include <gtest/gtest.h>

#include <stop_token>

#include "record/detect/detect.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "support/random_streams.hpp"
#include "support/recordings.hpp"
#include "support/same_spikes.hpp"

namespace spikeweave {

using record::detect_in_blocks;

namespace {

using namespace std::chrono_literals;

// One device, and the same device twice.
const std::vector<int> shares[] = {{0}, {0, 0}};

detection_result expect_same(const recording& from, const detection_options& options,
                             std::size_t block_frames, const std::string& what) {
    const filtered_recording traces(from, options.preprocessing);
    const detection_result expected = detect_in_blocks(traces, options, block_frames, {});
    for (const std::vector<int>& devices : shares) {
        const execution run{.threads = 4, .devices = devices};
        const filtered_recording on_devices(from, options.preprocessing, run);
        const detection_result found = detect_in_blocks(on_devices, options, block_frames, run);
        expect_same_spikes(found, expected, what);
        EXPECT_EQ(found.ran_on_devices, devices);
    }
    return expected;
}

TEST(DetectionOnDevices, FindsTheSameSpikesInBlocksOfAnySize) {
    std::size_t total = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        random_streams draw(seed);
        detection_options options{.neighbours = 20 * static_cast<double>(1 + draw.below(3)),
                                  .join_frames = static_cast<std::uint32_t>(draw.below(3)),
                                  .longest = 1ms * (1 + draw.below(16))};
        options.weak_threshold = 1 + static_cast<double>(draw.below(4)) / 2;
        options.strong_threshold = options.weak_threshold + 1 + static_cast<double>(draw.below(3));
        options.sign = static_cast<spike_sign>(draw.below(3));
        options.features_per_channel = 1 + static_cast<std::uint32_t>(draw.below(6));
        options.described_channels = static_cast<std::uint32_t>(draw.below(4));
        options.preprocessing.filter_order = 1 + static_cast<std::uint32_t>(draw.below(8));
        const recording from =
            noisy_recording(seed, 1 + draw.below(7), 200 + draw.below(6000), draw.below(60));
        for (const std::size_t block_frames : {64U, 501U, 1024U, 8192U})
            total += expect_same(from, options, block_frames,
                                 "seed " + std::to_string(seed) + ", blocks of " +
                                     std::to_string(block_frames))
                         .size();
    }
    EXPECT_GT(total, 200U);
}

TEST(DetectionOnDevices, FindsTheSameSpikesOnAnyNumberOfChannels) {
    for (const std::size_t channels : {1U, 2U, 31U, 32U, 33U, 64U, 65U, 128U, 384U}) {
        const recording from = noisy_recording(channels, channels, 20000, 10 * channels);
        for (const auto reference : {common_reference::none, common_reference::median}) {
            for (const bool whiten : {false, true}) {
                // The median of one channel is the channel itself; of two channels it leaves one
                // number.
                if (channels <= 2 && reference == common_reference::median && whiten) continue;
                const detection_result found = expect_same(
                    from, {.preprocessing = {.reference = reference, .whiten = whiten}}, 8192,
                    std::to_string(channels) + " channels, " + std::string(to_string(reference)) +
                        (whiten ? ", whitened" : ""));
                if (channels <= 2) continue;
                EXPECT_GT(found.size(), 5U) << channels;
            }
        }
    }
}

TEST(DetectionOnDevices, FindsTheSameSpikesOfASimulation) {
    for (const std::uint32_t channels : {32U, 96U}) {
        const simulated_recording made = simulate_recording(
            {.channels = channels, .length = 20s, .units = channels / 2, .seed = 3});
        const detection_result expected = detect_spikes(made.traces);
        const detection_result found = detect_spikes(made.traces, {}, {.devices = {0}});
        EXPECT_GT(expected.size(), 1000U);
        expect_same_spikes(found, expected, std::to_string(channels) + " channels");
    }
}

// Four of eight channels are dead, and another one is saturated half of the time.
TEST(DetectionOnDevices, FindsTheSameInBadRecordings) {
    for (const std::size_t frames : {0U, 1U, 2U, 100U, 8192U, 8193U, 30000U}) {
        std::vector<std::int16_t> samples = samples_of(noisy_recording(4, 8, frames, 20));
        const recording_description what = channels_in_a_line(8);
        const auto check = [&](const char* name) {
            for (const auto reference : {common_reference::none, common_reference::median})
                expect_same({what, samples}, {.preprocessing = {.reference = reference}}, 8192,
                            name + std::to_string(frames));
        };
        for (std::size_t at = 0; at < samples.size(); ++at) {
            if (at % 8 < 4) samples[at] = 7;
            if (at % 8 == 5 && at / 8 % 2000 < 1000) samples[at] = 32767;
        }
        check("partly dead ");
        for (std::size_t at = 0; at < samples.size(); ++at)
            samples[at] = at / 8 % 50 < 25 ? -29000 : 29000;
        check("clipped ");
        std::fill(samples.begin(), samples.end(), std::int16_t{0});
        check("silent ");
    }
}

TEST(DetectionOnDevices, StopsOnRequest) {
    const recording from = noisy_recording(6, 8, 100000, 100);
    std::stop_source asked;
    asked.request_stop();
    EXPECT_THROW(detect_spikes(from, {}, {.stop = asked.get_token(), .devices = {0}}), cancelled);
}

TEST(DetectionOnDevices, NamesADeviceThatIsNotThere) {
    const recording from = noisy_recording(6, 2, 1000, 3);
    EXPECT_THROW(detect_spikes(from, {}, {.devices = {77}}), device_error);
}

}  // namespace
}  // namespace spikeweave
