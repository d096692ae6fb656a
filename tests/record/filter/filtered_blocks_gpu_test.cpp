#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "record/filter/filtered_blocks.hpp"
#include "spikeweave/record/stream.hpp"
#include "support/recordings.hpp"

// Compares filtered blocks from a GPU with those from the CPU.
namespace spikeweave {
namespace {

TEST(FilteredBlocksOnDevices, AreThoseOfTheCpu) {
    for (const std::size_t channels : {1U, 31U, 33U, 384U})
        for (const bool whiten : {false, true}) {
            const recording from = noisy_recording(channels, channels, 20000, 10 * channels);
            const filtered_recording traces(
                from, {.reference = common_reference::none, .whiten = whiten});
            trace_scale scale{.limit = 100};
            for (std::size_t c = 0; c < channels; ++c)
                scale.factors.push_back(static_cast<float>(40 + c % 7) /
                                        static_cast<float>(traces.noise()[c]));
            const record::block_reader plain(traces, 90);
            const scaled_trace_blocks expected(traces, 90, scale);
            for (const std::vector<int>& devices : {std::vector<int>{0}, std::vector<int>{0, 0}}) {
                const execution run{.threads = 4, .devices = devices};
                const scaled_trace_blocks found(traces, 90, scale, run);
                const auto filtered = record::filtered_blocks_of(plain, run);
                for (std::size_t block = 0; block < 3; ++block) {
                    const std::vector<std::int16_t> values = found.read(block);
                    ASSERT_EQ(values, expected.read(block)) << channels << " channels";
                    EXPECT_EQ(std::ranges::max(values), 100);
                    ASSERT_EQ(filtered->read(block).values, plain.read(block).values);
                }
            }
        }
}

TEST(ScaledTraceStreamOnDevices, IsThatOfTheCpu) {
    for (const std::size_t channels : {1U, 31U, 33U, 384U})
        for (const common_reference reference : {common_reference::none, common_reference::median})
            for (const bool whiten : {false, true}) {
                const recording from = noisy_recording(channels, channels, 9000, 10 * channels);
                const trace_settings settings = settings_of(filtered_recording(
                    from, {.reference = reference, .whiten = whiten, .causal = true}));
                trace_scale scale{.limit = 100};
                for (std::size_t c = 0; c < channels; ++c)
                    scale.factors.push_back(settings.noise[c] > 0
                                                ? static_cast<float>(40 + c % 7) /
                                                      static_cast<float>(settings.noise[c])
                                                : 0);
                const probe_motion moved{.model = motion_model::rigid,
                                         .times_s = {0.5, 1.5},
                                         .depths_um = {50},
                                         .displacement_um = {4, 0}};
                scaled_trace_stream expected(settings, from.channels(), scale);
                scaled_trace_stream found(settings, from.channels(), scale, {.devices = {0}});
                const std::vector<std::int16_t> samples = samples_of(from);
                for (std::size_t at = 0, n = 0; at < 9000; ++n) {
                    if (n == 20 || n == 40)
                        for (scaled_trace_stream* const each : {&expected, &found})
                            each->follow(moved, n / 40);
                    const std::size_t frames =
                        std::min<std::size_t>(9000 - at, n < 60 ? 1 + n : 2000);
                    const auto piece = std::span{samples}.subspan(at * channels, frames * channels);
                    ASSERT_EQ(found.next(piece), expected.next(piece))
                        << channels << " channels, frame " << at;
                    at += frames;
                }
            }
}

}  // namespace
}  // namespace spikeweave
