#include "live/sources/open_ephys_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "live/session/event_order.hpp"
#include "live/sources/open_ephys_stand_in.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"
#include "support/spike_files.hpp"

namespace spikeweave::live {
namespace {

using namespace stand_in;

void give(open_ephys_messages& to, const message& frames) {
    std::vector<std::string_view> views(frames.begin(), frames.end());
    to.take(views);
}

std::vector<source_block> blocks_of_messages(
    const std::vector<message>& sent, open_ephys_sender sender = open_ephys_sender::zmq_interface,
    const std::string& stream = "probe") {
    open_ephys_messages messages(sender, stream, {"known"});
    for (const message& one : sent) give(messages, one);
    std::vector<source_block> blocks;
    while (auto block = messages.complete()) blocks.push_back(std::move(*block));
    if (auto block = messages.rest()) blocks.push_back(std::move(*block));
    return blocks;
}

spike_event received_spike(std::int64_t time, std::uint32_t unit) {
    return {time, unit_id{unit}};
}

TEST(OpenEphysMessages, GiveSpikesWhenDataTellTheRate) {
    const auto blocks = blocks_of_messages(
        {spike_message(7, 300, "E1"), spike_message(8, 15, "known", 2), ttl_message(9),
         spike_message(10, 15, "known"), data_message(11, 0, 1024), data_message(12, 0, 1024),
         spike_message(13, 1000, "E1")});

    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0], (source_block{.new_units = {"E1", "known#2"},
                                       .spikes = {received_spike(10'000, 1), received_spike(500, 2),
                                                  received_spike(500, 0)},
                                       .watermark_us = 30'800}));
    EXPECT_EQ(blocks[1], (source_block{.spikes = {received_spike(33'333, 1)}}));
}

TEST(OpenEphysMessages, TellWhatIsMissingBelatedAndRepeated) {
    const auto blocks =
        blocks_of_messages({data_message(1, 0, 1024), spike_message(2, 9, "known"),
                            spike_message(5, 12, "known"), spike_message(4, 15, "known"),
                            spike_message(4, 15, "known"), data_message(6, 1024, 1024)});

    ASSERT_EQ(blocks.size(), 2U + 1U);
    EXPECT_EQ(blocks[0], (source_block{.watermark_us = 30'800}));
    EXPECT_EQ(blocks[1], (source_block{.spikes = {received_spike(300, 0)}}));
    EXPECT_EQ(blocks[2], (source_block{.missing = 2,
                                       .belated = 1,
                                       .repeated = 1,
                                       .spikes = {received_spike(400, 0), received_spike(500, 0)},
                                       .watermark_us = 64'933}));
}

TEST(OpenEphysMessages, BeginAnEpochWhenAcquisitionIsStartedAgain) {
    std::vector<message> sent{data_message(100, 50'000, 1024), spike_message(101, 51'000, "known"),
                              data_message(102, 51'024, 1024)};
    sent.push_back(spike_message(1, 20, "known"));
    sent.push_back(data_message(2, 0, 1024, 20000));
    const auto blocks = blocks_of_messages(sent);

    ASSERT_EQ(blocks.size(), 3U);
    EXPECT_FALSE(blocks[1].begins_epoch);
    EXPECT_EQ(blocks[2], (source_block{.begins_epoch = true,
                                       .spikes = {received_spike(1'000, 0)},
                                       .watermark_us = 46'200}));
}

TEST(OpenEphysMessages, RefuseASecondStreamOnlyBeforeTheSessionHasBegun) {
    open_ephys_messages messages(open_ephys_sender::zmq_interface, "", {"known"});
    give(messages, spike_message(1, 1'000, "known"));
    EXPECT_SAYS(text_of([&] { give(messages, spike_message(2, 1'001, "x", 0, "other")); }),
                "the streams 'probe' and 'other' both have spikes");

    open_ephys_messages later(open_ephys_sender::zmq_interface, "", {"known"});
    give(later, spike_message(1, 1'000, "known"));
    give(later, data_message(2, 0, 1024));
    ASSERT_TRUE(later.complete());
    give(later, spike_message(3, 1'001, "x", 0, "other"));
    give(later, spike_message(4, 1'002, "known"));
    EXPECT_EQ(later.complete(), std::nullopt);
    EXPECT_EQ(later.rest(), (source_block{.unreadable = 1, .spikes = {received_spike(33'400, 0)}}));
    EXPECT_SAYS(later.first_unreadable(), "a spike of the stream 'other'");
}

TEST(OpenEphysMessages, CountAMessageWithANumberThatCannotBeAsUnreadable) {
    for (const std::uint64_t number : {UINT64_MAX, std::uint64_t{1} << 62}) {
        const auto blocks = blocks_of_messages(
            {spike_message(0, 1'000, "known"), data_message(1, 0, 1024),
             spike_message(number, 1'100, "known"), spike_message(3, 1'200, "known")});
        std::uint64_t missing = 0;
        std::uint64_t unreadable = 0;
        for (const source_block& one : blocks) {
            missing += one.missing;
            unreadable += one.unreadable;
        }
        EXPECT_EQ(unreadable, 1U);
        EXPECT_EQ(missing, 0U) << "it had the number 2";
    }
}

TEST(OpenEphysMessages, BeginAnEpochWhenTheRateChanges) {
    const auto blocks =
        blocks_of_messages({spike_message(1, 1, "known"), data_message(2, 0, 1024),
                            data_message(3, 1024, 1024, 25000), data_message(4, 10, 1024, 25000)});

    ASSERT_EQ(blocks.size(), 3U);
    EXPECT_FALSE(blocks[0].begins_epoch);
    EXPECT_TRUE(blocks[1].begins_epoch);
    EXPECT_TRUE(blocks[2].begins_epoch);
}

TEST(OpenEphysMessages, BeginAnEpochAfterABreakUnlessNothingWasLost) {
    open_ephys_messages messages(open_ephys_sender::zmq_interface, "probe", {"known"});
    give(messages, data_message(1, 0, 1024));
    give(messages, spike_message(2, 1000, "known"));
    messages.connection_broke();
    give(messages, spike_message(3, 1001, "known"));
    EXPECT_EQ(messages.complete(), (source_block{.watermark_us = 30'800}));
    EXPECT_EQ(messages.rest(),
              (source_block{.spikes = {received_spike(33'333, 0), received_spike(33'367, 0)}}));

    messages.connection_broke();
    give(messages, spike_message(6, 3000, "known"));
    give(messages, data_message(7, 2048, 1024, 20000));
    EXPECT_EQ(messages.complete(), (source_block{.begins_epoch = true,
                                                 .missing = 2,
                                                 .spikes = {received_spike(150'000, 0)},
                                                 .watermark_us = 148'600}));
    // A sender that was started again and has sent as few messages as the one before.
    messages.connection_broke();
    give(messages, spike_message(4, 20, "known"));
    give(messages, data_message(5, 0, 1024));
    EXPECT_EQ(messages.complete(), (source_block{.begins_epoch = true,
                                                 .spikes = {received_spike(667, 0)},
                                                 .watermark_us = 30'800}));
    EXPECT_FALSE(messages.rest());
}

TEST(OpenEphysMessages, OfTheEventBroadcasterBeginAnEpochWhenTheClockGoesBack) {
    open_ephys_messages messages(open_ephys_sender::event_broadcaster, "", {"known"});
    const auto give_spike = [&](std::int64_t sample) {
        give(messages, broadcast_message(sample, "known"));
    };
    give_spike(90'000);
    give_spike(60'000);  // as far back as within a block
    give_spike(29'999);
    EXPECT_EQ(
        messages.complete(),
        (source_block{.spikes = {received_spike(3'000'000, 0), received_spike(2'000'000, 0)}}));
    messages.connection_broke();
    give_spike(40'000);
    EXPECT_EQ(messages.complete(),
              (source_block{.begins_epoch = true, .spikes = {received_spike(999'967, 0)}}));
    EXPECT_EQ(messages.rest(),
              (source_block{.begins_epoch = true, .spikes = {received_spike(1'333'333, 0)}}));
}

TEST(OpenEphysMessages, FollowOneStream) {
    const std::vector<message> sent{
        spike_message(1, 30, "a", 0, "one"), spike_message(2, 30, "b", 0, "two"),
        data_message(3, 0, 1024, 30000, "one"), data_message(4, 0, 2000, 30000, "two")};
    EXPECT_NE(text_of([&] {
                  blocks_of_messages(sent, open_ephys_sender::zmq_interface, "");
              }).find("'one' and 'two'"),
              std::string::npos);

    const auto blocks = blocks_of_messages(sent, open_ephys_sender::zmq_interface, "two");
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks[0].new_units, std::vector<std::string>{"b"});
    EXPECT_EQ(blocks[0].watermark_us, 63'333);
}

// A message that is cut anywhere is counted once, whether or not its number can be read.
TEST(OpenEphysMessages, CountMessagesThatAreCut) {
    const message whole = spike_message(2, 9, "known");
    for (std::size_t length = 0; length < whole[1].size(); ++length) {
        const auto blocks = blocks_of_messages({data_message(1, 0, 1024),
                                                {whole[0], whole[1].substr(0, length), whole[2]},
                                                spike_message(3, 12, "known"),
                                                data_message(4, 1024, 1024)});
        ASSERT_EQ(blocks.size(), 2U) << length;
        ASSERT_EQ(blocks[1],
                  (source_block{
                      .unreadable = 1, .spikes = {received_spike(400, 0)}, .watermark_us = 64'933}))
            << length;
    }
    EXPECT_EQ(blocks_of_messages({{event_topic}, {}}),
              (std::vector{source_block{.unreadable = 2}}));
}

TEST(OpenEphysMessages, CountValuesThatAreOutOfRange) {
    for (const message& odd :
         {spike_message(1, -1, "known"), spike_message(1, 1, ""), spike_message(1, 1, "a\tb"),
          data_message(1, 0, -5), data_message(1, 0, 10, 0.5), data_message(1, INT64_MAX, 10),
          data_message(1, 0, 10, 1e300)})
        EXPECT_EQ(blocks_of_messages({odd}), (std::vector{source_block{.unreadable = 1}}))
            << odd[1];
}

TEST(OpenEphysMessages, AreReadFromTheEventBroadcaster) {
    const auto blocks =
        blocks_of_messages({broadcast_message(30, "known"),
                            {std::string(2, '\0'), R"({"event_type":"ttl","line":3})"},
                            {"\1", "?"},
                            broadcast_message(60, "E1"),
                            broadcast_message(60, "E1", 20000)},
                           open_ephys_sender::event_broadcaster);

    ASSERT_EQ(blocks.size(), 3U);
    EXPECT_EQ(blocks[0], (source_block{.spikes = {received_spike(1'000, 0)}}));
    EXPECT_EQ(
        blocks[1],
        (source_block{.new_units = {"E1"}, .unreadable = 1, .spikes = {received_spike(2'000, 1)}}));
    EXPECT_EQ(blocks[2],
              (source_block{.begins_epoch = true, .spikes = {received_spike(3'000, 1)}}));
}

// As the Spike Detector does: the spikes of a block come electrode by electrode, up to 100 samples
// before its end, and before its data. None is late.
TEST(OpenEphysMessagesProperty, AreInOrderWithoutLateSpikes) {
    std::mt19937_64 random(9);
    for (std::size_t i = 0; i < property_cases(100); ++i) {
        std::vector<std::pair<std::int64_t, int>> spikes;
        for (std::uint64_t k = random() % 400; k-- > 0;)
            spikes.emplace_back(static_cast<std::int64_t>(random() % 8'000),
                                static_cast<int>(random() % 5));
        std::vector<message> sent;
        std::uint64_t number = 0;
        std::int64_t detected = 0;
        for (std::int64_t begin = 0; begin < 9'000;) {
            const auto samples = 200 + static_cast<std::int64_t>(random() % 1'000);
            const std::int64_t until = begin + samples - 100;
            for (int electrode = 0; electrode < 5; ++electrode)
                for (const auto& [sample, of] : spikes)
                    if (of == electrode && sample >= detected && sample < until)
                        sent.push_back(
                            spike_message(number++, sample, fmt::format("E{}", electrode)));
            for (int channel = 0; channel < 2; ++channel)
                sent.push_back(data_message(number++, begin, samples));
            detected = until;
            begin += samples;
        }

        event_order order({.policy = order_policy::block});
        std::vector<std::int64_t> times;
        for (const source_block& block : blocks_of_messages(sent)) {
            ASSERT_EQ(block.missing + block.unreadable, 0U);
            for (const spike_event& one : block.spikes) order.add(one);
            if (block.watermark_us) order.advance(*block.watermark_us);
            for (const spike_event& one : order.take()) times.push_back(one.time_us);
        }
        for (const spike_event& one : order.flush()) times.push_back(one.time_us);
        EXPECT_EQ(order.counts().late, 0U) << "case " << i;
        EXPECT_EQ(order.counts().accepted + order.counts().duplicates, spikes.size());
        EXPECT_TRUE(std::is_sorted(times.begin(), times.end())) << "case " << i;
    }
}

}  // namespace
}  // namespace spikeweave::live
