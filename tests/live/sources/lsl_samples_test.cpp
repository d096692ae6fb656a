#include "live/sources/lsl_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

spike_event lsl_spike(std::int64_t time, std::uint32_t unit) {
    return {time, unit_id{unit}};
}

std::vector<source_block> all_blocks(lsl_samples& from) {
    std::vector<source_block> blocks;
    while (auto block = from.next()) blocks.push_back(std::move(*block));
    return blocks;
}

TEST(LslSamples, AreSpikesOfTheUnitThatTheirValueNames) {
    lsl_samples from({"a"});
    from.take(1.0000004, "b");
    from.take(1.0000006, "a");
    from.take(1.5, std::int64_t{7});
    from.take(-0.25, "7");

    EXPECT_EQ(
        all_blocks(from),
        (std::vector{source_block{.new_units = {"b", "7"},
                                  .spikes = {lsl_spike(1'000'000, 1), lsl_spike(1'000'001, 0),
                                             lsl_spike(1'500'000, 2), lsl_spike(-250'000, 2)}}}));
    EXPECT_EQ(from.unit_names(), (std::vector<std::string>{"a", "b", "7"}));
    EXPECT_FALSE(from.next());
}

// What could not be read may have been a spike of the time before it, so it ends a block.
TEST(LslSamples, CountsWhatIsNoSpike) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    lsl_samples from({"a"});
    from.take(1, "a");
    from.take(2, "");
    from.take(2, "a\n");
    from.take(2, std::string_view("a\0b", 3));
    from.take(2, "\xff");
    from.take(2, std::string(lsl_samples::longest_name + 1, 'a'));
    from.take(2, std::int64_t{-1});
    from.take(nan, "a");
    from.take(HUGE_VAL, "a");
    from.take(2e12, "a");
    from.take(3, "a");

    EXPECT_EQ(all_blocks(from),
              (std::vector{source_block{.spikes = {lsl_spike(1'000'000, 0)}},
                           source_block{.unreadable = 9, .spikes = {lsl_spike(3'000'000, 0)}}}));
}

TEST(LslSamples, BeginAnEpochWhenManyTimesAgreeThatOneWasWrong) {
    lsl_samples from({"a"});
    from.take(1, "a");
    from.take(36'000, "a");
    for (int k = 1; k <= 30; ++k) from.take(1 + 0.1 * k, "a");
    const auto blocks = all_blocks(from);
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].spikes.size(), 1U + stream_clock::agreeing);
    EXPECT_TRUE(blocks[1].begins_epoch);
    EXPECT_EQ(blocks[1].spikes.size(), 31U - stream_clock::agreeing);
}

TEST(LslSamples, TellsOfLossesBeforeTheSpikesThatFollow) {
    lsl_samples from({"a"});
    from.take(1, "a");
    from.add_loss();
    from.take(2, "a");
    from.connection_broke();
    from.take(1.5, "a");

    EXPECT_EQ(all_blocks(from),
              (std::vector{
                  source_block{.spikes = {lsl_spike(1'000'000, 0)}},
                  source_block{.missing = 1, .spikes = {lsl_spike(2'000'000, 0)}},
                  source_block{
                      .begins_epoch = true, .missing = 1, .spikes = {lsl_spike(1'500'000, 0)}}}));
}

TEST(LslSamples, BeginAnEpochWhereTimesLeap) {
    const double day_s = 24 * 3600;
    lsl_samples from({"a"});
    from.take(1, "a");
    from.take(1 + day_s, "a");
    from.take(1, "a");
    from.take(-day_s, "a");

    const auto blocks = all_blocks(from);
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].spikes.size(), 3U);
    EXPECT_EQ(blocks[1],
              (source_block{.begins_epoch = true, .spikes = {lsl_spike(-86'400'000'000, 0)}}));
}

TEST(LslSamples, AreUnreadableIfThereAreTooManyUnits) {
    lsl_samples from({});
    for (std::size_t unit = 0; unit <= known_units::most; ++unit)
        from.take(1, static_cast<std::int64_t>(unit));

    const auto blocks = all_blocks(from);
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].new_units.size(), known_units::most);
    EXPECT_EQ(blocks[1], source_block{.unreadable = 1});
}

// However blocks are taken, they hold the same spikes in the same order.
TEST(LslSamples, AreTheSameHoweverTheyAreTaken) {
    std::mt19937 random(1);
    for (std::size_t round = 0; round < property_cases(200); ++round) {
        lsl_samples at_once({}), now_and_then({});
        std::vector<spike_event> one, other;
        const auto collect = [](lsl_samples& from, std::vector<spike_event>& into) {
            for (const source_block& block : all_blocks(from))
                into.insert(into.end(), block.spikes.begin(), block.spikes.end());
        };
        for (int i = 0; i < 50; ++i) {
            const double time_s = static_cast<double>(random() % 1000) * 1e-4;
            const auto unit = static_cast<std::int64_t>(random() % 6) - 1;
            at_once.take(time_s, unit);
            now_and_then.take(time_s, unit);
            if (random() % 5 == 0) collect(now_and_then, other);
        }
        collect(at_once, one);
        collect(now_and_then, other);
        EXPECT_EQ(one, other);
        EXPECT_EQ(at_once.unit_names(), now_and_then.unit_names());
    }
}

}  // namespace
}  // namespace spikeweave::live
