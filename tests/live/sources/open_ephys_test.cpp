#include "live/sources/streams.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "live/sources/open_ephys_stand_in.hpp"
#include "live/stand_in/publisher.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

using namespace stand_in;

// Takes blocks up to one with a watermark.
source_block next_with_watermark(source& from) {
    source_block all;
    while (const auto block = from.next()) {
        all.begins_epoch |= block->begins_epoch;
        all.missing += block->missing;
        all.spikes.insert(all.spikes.end(), block->spikes.begin(), block->spikes.end());
        all.watermark_us = block->watermark_us;
        if (all.watermark_us) break;
    }
    return all;
}

TEST(OpenEphys, ReceivesSpikesAndConnectsAgain) {
    std::string address;
    std::unique_ptr<source> from;
    {
        publisher gui;
        address = gui.address();
        from = open_ephys(open_ephys_sender::zmq_interface, address, "", {});
        gui.wait_for_subscriber();
        gui.send(spike_message(20, 30, "E1"));
        gui.send(ttl_message(21));
        gui.send(spike_message(23, 60, "E2"));
        gui.send(data_message(24, 0, 1024));
        const source_block first = next_with_watermark(*from);
        EXPECT_EQ(first.missing, 1U);
        EXPECT_EQ(first.spikes,
                  (std::vector<spike_event>{{1'000, unit_id{0}}, {2'000, unit_id{1}}}));
        EXPECT_EQ(from->unit_names(), (std::vector<std::string>{"E1", "E2"}));
    }
    // A connection is made again while the source is asked for blocks.
    publisher again(address);
    auto receiving = std::async(std::launch::async, [&] { return next_with_watermark(*from); });
    again.wait_for_subscriber();
    again.send(spike_message(100, 90, "E2"));
    again.send(data_message(101, 0, 1024));
    const source_block second = receiving.get();
    EXPECT_TRUE(second.begins_epoch);
    EXPECT_EQ(second.missing, 75U);
    EXPECT_EQ(second.spikes, (std::vector<spike_event>{{3'000, unit_id{1}}}));
}

TEST(OpenEphys, ReceivesFromTheEventBroadcaster) {
    publisher gui;
    const auto from = open_ephys(open_ephys_sender::event_broadcaster, gui.address(), "", {"E1"});
    gui.wait_for_subscriber();
    gui.send(broadcast_message(30, "E1"));
    const auto block = from->next();
    ASSERT_TRUE(block);
    EXPECT_EQ(block->spikes, (std::vector<spike_event>{{1'000, unit_id{0}}}));
}

TEST(OpenEphys, ReceivesSamples) {
    publisher gui;
    const recording_description two{.channels = {{.gain_uv = 0.5}, {.gain_uv = 0.5}},
                                    .rate_hz = 30'000};
    const auto from = open_ephys_continuous(gui.address(), "", two);
    gui.wait_for_subscriber();
    gui.send(samples_message(1, 90, 0, {1, 2, 3}));
    gui.send(spike_message(2, 91, "E1"));
    gui.send(samples_message(3, 90, 1, {-1, -2, -3}));
    const auto block = from->next();
    ASSERT_TRUE(block);
    EXPECT_EQ(*block, (sample_block{.first = 90, .counts = {2, -2, 4, -4, 6, -6}}));
}

TEST(OpenEphys, LeavesOutSamplesThatHaveWaitedTooLong) {
    publisher gui;
    const recording_description one{.channels = {{.gain_uv = 1}}, .rate_hz = 30'000};
    const auto from =
        open_ephys_continuous(gui.address(), "", one, 1, {}, std::chrono::milliseconds{100});
    gui.wait_for_subscriber();
    gui.send(samples_message(1, 0, 0, {1}));
    EXPECT_EQ(from->next()->first, 0);
    for (std::int64_t frame = 1; frame < 1000; ++frame) gui.send(samples_message(1, frame, 0, {1}));
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    std::uint64_t came = 0;
    std::uint64_t left_out = 0;
    for (std::int64_t frame = 1000; came + left_out < 1200; ++frame) {
        gui.send(samples_message(1, frame, 0, {1}));
        const auto block = from->next();
        ASSERT_TRUE(block);
        came += block->counts.size();
        if (block->has_left_out) left_out += block->missing;
        EXPECT_EQ(block->missing > 0, block->has_left_out);
    }
    EXPECT_GE(left_out, 900U);
}

TEST(OpenEphys, EndsWhenItIsStopped) {
    std::stop_source stop;
    const auto from =
        open_ephys(open_ephys_sender::zmq_interface, "tcp://127.0.0.1:9", "", {}, stop.get_token());
    std::jthread stopping([&] { stop.request_stop(); });
    EXPECT_FALSE(from->next());
}

TEST(OpenEphys, SaysThatNothingHasCome) {
    const auto from = open_ephys(open_ephys_sender::zmq_interface, "tcp://127.0.0.1:9", "", {});
    const auto block = from->next();
    ASSERT_TRUE(block);
    EXPECT_EQ(*block, source_block{});
}

TEST(OpenEphys, RefusesAnAddressThatIsNone) {
    EXPECT_EQ(text_of([] { open_ephys(open_ephys_sender::zmq_interface, "tcp://host", "", {}); }),
              "cannot receive from tcp://host: Invalid argument");
}

}  // namespace
}  // namespace spikeweave::live
