#include "live/sources/played_file.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr time_span whole{duration{-50'000}, duration{250'000}};

// A spike each 10 us, from one unit or the other.
spike_sequence regular_spikes() {
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    for (std::uint32_t i = 0; i < 20'000; ++i)
        spikes.emplace_back(10 * static_cast<std::int64_t>(i), unit_id{i % 2});
    return sequence_of(std::move(spikes), {"a", "b"}, whole);
}

struct taken_blocks {
    std::vector<spike_event> spikes{};
    std::size_t blocks = 0;
    std::int64_t watermark_us = INT64_MIN;
    double seconds = 0;
};

// Checks that no spike is late.
taken_blocks play_at(double speed) {
    const auto began = std::chrono::steady_clock::now();
    played_file from(regular_spikes(), speed);
    taken_blocks all;
    while (const auto block = from.next()) {
        ++all.blocks;
        for (const spike_event& spike : block->spikes) EXPECT_GE(spike.time_us, all.watermark_us);
        all.spikes.insert(all.spikes.end(), block->spikes.begin(), block->spikes.end());
        EXPECT_GE(block->watermark_us, all.watermark_us);
        all.watermark_us = block->watermark_us.value();
    }
    all.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return all;
}

TEST(PlayedFile, GivesAllSpikesAtAnySpeed) {
    const spike_sequence spikes = regular_spikes();
    std::vector<spike_event> expected;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        expected.push_back({spikes.times_us()[i], spikes.units()[i]});
    for (const double speed : {0.0, 3.0, 1e9}) {
        const taken_blocks all = play_at(speed);
        EXPECT_EQ(all.spikes, expected) << speed;
        EXPECT_EQ(all.watermark_us, whole.end.count()) << speed;
    }
}

TEST(PlayedFile, TakesTheTimeOfTheRecording) {
    const taken_blocks all = play_at(3);
    EXPECT_GE(all.seconds, 0.1);
    EXPECT_GE(all.blocks, 2U);
    EXPECT_EQ(play_at(0).blocks, 5U);
}

TEST(PlayedFile, EndsWhenItIsStopped) {
    std::stop_source stop;
    played_file from(regular_spikes(), 0.001, stop.get_token());
    EXPECT_TRUE(from.next());
    stop.request_stop();
    EXPECT_FALSE(from.next());
}

TEST(PlayedFile, OfNothingEndsAtOnce) {
    played_file from(spike_sequence(), 0);
    EXPECT_EQ(from.next(), (source_block{.watermark_us = 0}));
    EXPECT_FALSE(from.next());
    EXPECT_THROW(played_file(spike_sequence(), -1), invalid_argument);
}

}  // namespace
}  // namespace spikeweave::live
