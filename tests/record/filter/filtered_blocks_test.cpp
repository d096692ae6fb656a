#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spikeweave/record/trace_blocks.hpp"
#include "support/recordings.hpp"

namespace spikeweave {
namespace {

TEST(ScaledTraceBlocks, AreTheTracesTimesFactorsLimitedAndRounded) {
    constexpr std::size_t channels = 5;
    constexpr std::size_t apron = 70;
    const filtered_recording traces(noisy_recording(2, channels, 20000, 60));
    const trace_blocks plain(traces, apron);
    const trace_scale scale{.factors = {0, 0.5F, 1, 2, 7}, .limit = 200};
    const scaled_trace_blocks scaled(traces, apron, scale);
    std::size_t limited = 0;
    for (std::size_t number = 0; number < plain.block_count(); ++number) {
        const trace_block block = plain.read(number);
        const std::vector<std::int16_t> found = scaled.read(number);
        const std::size_t frames = block.frames + 2 * apron;
        ASSERT_EQ(found.size(), frames * channels);
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t f = 0; f < frames; ++f) {
                const double value = double{block.values[f * channels + c]} * scale.factors[c];
                const double expected = std::clamp(value, -200.0, 200.0);
                limited += std::abs(value) > 200 ? 1U : 0U;
                ASSERT_NEAR(found[c * frames + f], expected, 0.5001)
                    << "block " << number << ", channel " << c << ", frame " << f;
            }
    }
    EXPECT_GT(limited, 10U);
}

TEST(ScaledTraceBlocks, NeedAFactorForEachChannel) {
    const filtered_recording traces(noisy_recording(2, 3, 9000, 0));
    EXPECT_THROW(scaled_trace_blocks(traces, 0, {.factors = {1, 1}}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
