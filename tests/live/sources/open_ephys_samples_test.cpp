#include "live/sources/open_ephys_samples.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "live/sources/open_ephys_stand_in.hpp"
#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

using namespace stand_in;

// Three channels of half a microvolt per count.
recording_description three_channels() {
    return {.channels = {{.gain_uv = 0.5}, {.gain_uv = 0.5}, {.gain_uv = 0.5}}, .rate_hz = 30'000};
}

struct received_samples {
    open_ephys_samples samples;
    std::vector<sample_block> blocks{};

    explicit received_samples(const std::vector<message>& sent, const std::string& stream = "")
        : samples(stream, three_channels()) {
        for (const message& one : sent)
            samples.take(std::vector<std::string_view>(one.begin(), one.end()));
        while (auto block = samples.complete()) blocks.push_back(std::move(*block));
        if (auto block = samples.rest()) blocks.push_back(std::move(*block));
    }
};

// The messages of a block of two frames, of channels 4, 5 and 8.
std::vector<message> block_at(std::int64_t sample, float first = 1) {
    return {samples_message(1, sample, 8, {first + 4, first + 5}),
            samples_message(2, sample, 4, {first, first + 1}),
            samples_message(3, sample, 5, {first + 2, first + 3})};
}

std::vector<message> together(const std::vector<std::vector<message>>& blocks) {
    std::vector<message> all;
    for (const auto& each : blocks) all.insert(all.end(), each.begin(), each.end());
    return all;
}

TEST(OpenEphysSamples, JoinTheChannelsOfABlockInTheOrderOfTheirNumbers) {
    const received_samples got(together({block_at(100), block_at(102, -1)}));
    EXPECT_EQ(got.blocks,
              (std::vector<sample_block>{{.first = 100, .counts = {2, 6, 10, 4, 8, 12}},
                                         {.first = 102, .counts = {-2, 2, 6, 0, 4, 8}}}));
}

TEST(OpenEphysSamples, LearnTheirChannelsFromTwoBlocksThatAgree) {
    std::vector<message> sent = together(
        {block_at(100), block_at(102), block_at(104), block_at(106), block_at(108), block_at(110)});
    sent.erase(sent.begin() + 4);  // of the second block
    open_ephys_samples samples("", {}, 0.5);
    for (const message& one : sent)
        samples.take(std::vector<std::string_view>(one.begin(), one.end()));
    // The first one may have been joined within it, and the third and fourth one agree.
    const auto first = samples.complete();
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, (sample_block{.first = 106, .counts = {2, 6, 10, 4, 8, 12}}));
    EXPECT_EQ(samples.complete()->first, 108);
    EXPECT_EQ(samples.complete()->first, 110);
    const recording_description& of = samples.description();
    EXPECT_EQ(of.rate_hz, 30'000);
    ASSERT_EQ(of.channels.size(), 3U);
    EXPECT_EQ(of.channels[2].name, "8");
    EXPECT_EQ(of.channels[2].gain_uv, 0.5);
}

TEST(OpenEphysSamples, CountWhatWasLeftOut) {
    received_samples got(block_at(100));
    const auto take = [&](const message& one) {
        got.samples.take(std::vector<std::string_view>(one.begin(), one.end()));
    };
    take(block_at(102)[0]);
    got.samples.leave_out();
    take(block_at(110)[2]);  // the rest of a block
    for (const message& one : block_at(112)) take(one);
    for (const message& one : block_at(114)) take(one);
    const auto after = got.samples.complete();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->first, 112);
    EXPECT_EQ(after->missing, 10U);
    EXPECT_TRUE(after->has_left_out);
    EXPECT_FALSE(got.samples.complete()->has_left_out);
    EXPECT_FALSE(got.samples.rest());
}

TEST(OpenEphysSamples, BeginWithTheFirstWholeBlock) {
    std::vector<message> sent = together({block_at(100), block_at(102)});
    sent.erase(sent.begin());
    const received_samples got(sent);
    ASSERT_EQ(got.blocks.size(), 1U);
    EXPECT_EQ(got.blocks[0].first, 102);
    EXPECT_EQ(got.blocks[0].missing, 0U);
}

TEST(OpenEphysSamples, CountTheFramesOfWhichAChannelIsLost) {
    std::vector<message> sent = together({block_at(100), block_at(102), block_at(104)});
    sent.erase(sent.begin() + 4);
    const received_samples got(sent);
    ASSERT_EQ(got.blocks.size(), 2U);
    EXPECT_EQ(got.blocks[1].first, 104);
    EXPECT_EQ(got.blocks[1].missing, 2U);
    EXPECT_FALSE(got.blocks[1].begins_epoch);
}

TEST(OpenEphysSamples, TellThatTheClockHasStartedAgain) {
    const received_samples got(together({block_at(100), block_at(0)}));
    ASSERT_EQ(got.blocks.size(), 2U);
    EXPECT_TRUE(got.blocks[1].begins_epoch);
    EXPECT_EQ(got.blocks[1].missing, 0U);
}

TEST(OpenEphysSamples, LeaveOutABlockThatCannotBeRead) {
    std::vector<message> sent = together({block_at(100), block_at(102), block_at(104)});
    sent[3][2].pop_back();
    sent[4] = samples_message(2, 102, 4, {1, std::numeric_limits<float>::quiet_NaN()});
    const received_samples got(sent);
    ASSERT_EQ(got.blocks.size(), 2U);
    EXPECT_EQ(got.blocks[1].unreadable, 2U);
    EXPECT_EQ(got.blocks[1].missing, 2U);
    EXPECT_EQ(got.samples.first_unreadable(),
              "a message of 2 samples of channel 8 that has 7 bytes");
    EXPECT_EQ(received_samples(std::vector<message>{{"DATA", "{"}}).blocks,
              (std::vector<sample_block>{{.unreadable = 1}}));
}

TEST(OpenEphysSamples, AreLimitedToTheRangeOfCounts) {
    const received_samples got({samples_message(1, 0, 0, {1e9F}), samples_message(2, 0, 1, {-1e9F}),
                                samples_message(3, 0, 2, {0.26F})});
    ASSERT_EQ(got.blocks.size(), 1U);
    EXPECT_EQ(got.blocks[0].counts, (std::vector<std::int16_t>{32767, -32768, 1}));
}

TEST(OpenEphysSamples, FollowOneStream) {
    std::vector<message> sent = block_at(100);
    sent.push_back(samples_message(4, 100, 0, {1, 2}, 2'500, "lfp"));
    EXPECT_EQ(received_samples(sent, "probe").blocks.size(), 1U);
    EXPECT_EQ(text_of([&] { const received_samples got(sent); }),
              "the streams 'probe' and 'lfp' both send samples: name one of them (`stream`)");
}

TEST(OpenEphysSamples, RefuseChannelsAndRatesThatTheTemplatesDoNotHave) {
    std::vector<message> fewer = together({block_at(100), block_at(102), block_at(104)});
    std::erase_if(fewer, [](const message& one) {
        return one[1].find(R"("channel_num":8)") != std::string::npos;
    });
    EXPECT_EQ(text_of([&] { const received_samples got(fewer); }),
              "'probe' sends 2 channels, expected 3, as the templates have: select these in the "
              "ZMQ Interface");
    std::vector<message> more = block_at(100);
    more.push_back(samples_message(4, 100, 9, {1, 2}));
    EXPECT_EQ(text_of([&] { const received_samples got(more); }),
              "'probe' sends more than the 3 channels that the templates have: select these in "
              "the ZMQ Interface");
    EXPECT_EQ(
        text_of([&] {
            const received_samples got(std::vector<message>{samples_message(1, 0, 0, {1}, 25'000)});
        }),
        "'probe' sends 25000 samples a second, expected 30000, as the templates have");
}

}  // namespace
}  // namespace spikeweave::live
