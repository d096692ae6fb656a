#include "live/sources/streams.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/live/spike_sender.hpp"
#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

using namespace std::chrono_literals;

// A place where nobody listens.
std::string free_place() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    socklen_t size = sizeof address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

// All blocks of a source in one, with its last watermark.
struct received {
    source_block sum{};
    std::map<std::string, sender_progress> progress{};

    void add(const source_block& block) {
        sum.new_units.insert(sum.new_units.end(), block.new_units.begin(), block.new_units.end());
        sum.missing += block.missing;
        sum.repeated += block.repeated;
        sum.unreadable += block.unreadable;
        sum.spikes.insert(sum.spikes.end(), block.spikes.begin(), block.spikes.end());
        if (block.watermark_us) sum.watermark_us = block.watermark_us;
        for (const sender_progress& one : block.senders) progress[one.name] = one;
    }
};

received all_of(source& from) {
    received all;
    while (const auto block = from.next()) all.add(*block);
    return all;
}

void send_numbers(spike_sender& to, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t at_once = 50;
    for (; begin < end; begin += at_once) {
        std::vector<std::int64_t> times;
        for (std::int64_t time = begin; time < begin + at_once; ++time) times.push_back(time);
        to.send(times, std::vector<unit_id>(times.size()), begin + at_once);
    }
}

void expect_numbers(const std::vector<spike_event>& spikes, std::int64_t end) {
    ASSERT_EQ(spikes.size(), static_cast<std::size_t>(end));
    for (std::int64_t time = 0; time < end; ++time)
        ASSERT_EQ(spikes[static_cast<std::size_t>(time)].time_us, time);
}

class AcknowledgedStream : public testing::Test {
protected:
    std::string place = free_place();
    std::string here = "tcp://" + place;
    std::string there = "spikeweave://" + place;
};

TEST_F(AcknowledgedStream, ReceivesAllOfASenderThatCameFirst) {
    auto sending = std::async(std::launch::async, [&] {
        spike_sender to(there, {"a"});
        send_numbers(to, 0, 100'000);
        to.finish();
        return to.counts();
    });
    std::this_thread::sleep_for(50ms);
    const auto from = acknowledged_stream(here, senders({"z"}));
    const received all = all_of(*from);

    expect_numbers(all.sum.spikes, 100'000);
    EXPECT_EQ(all.sum.spikes[5].unit, unit_id{1});
    EXPECT_EQ(from->unit_names(), (std::vector<std::string>{"z", "a"}));
    EXPECT_EQ(all.sum.watermark_us, 100'000);
    EXPECT_EQ(all.sum.missing + all.sum.unreadable + all.sum.repeated, 0U);
    EXPECT_EQ(sending.get(), (spike_sender_counts{.spikes = 100'000, .frames = 2001}));
}

TEST_F(AcknowledgedStream, ReceivesFromTwoSenders) {
    const auto from = acknowledged_stream(here, senders({}, {}, 2));
    std::jthread receiving;
    auto all = std::async(std::launch::async, [&] { return all_of(*from); });
    std::vector<std::jthread> programs;
    for (const char* const name : {"left", "right"})
        programs.emplace_back([&, name] {
            spike_sender to(there, {name}, {.source = name, .clock = "rig"});
            send_numbers(to, 0, 20'000);
            const std::string added = std::string(name) + " 2";
            to.add_units({&added, 1});
            const std::int64_t time = 20'000;
            const unit_id unit{1};
            to.send({&time, 1}, {&unit, 1}, 20'001);
            to.finish();
        });
    const received both = all.get();

    EXPECT_EQ(both.sum.spikes.size(), 40'002U);
    EXPECT_EQ(both.sum.watermark_us, 20'001);
    EXPECT_EQ(from->unit_names().size(), 4U);
    for (const std::string name : {"left", "right"}) {
        std::vector<spike_event> spikes;
        for (const spike_event& spike : both.sum.spikes)
            if (from->unit_names()[to_index(spike.unit)].starts_with(name)) spikes.push_back(spike);
        expect_numbers(spikes, 20'001);
        EXPECT_EQ(from->unit_names()[to_index(spikes.back().unit)], name + " 2");
    }
}

// Many spikes at once are several frames, and only the last one tells that all have come.
TEST_F(AcknowledgedStream, ManySpikesAtOnceAreDivided) {
    const auto from = acknowledged_stream(here, senders({}));
    auto all = std::async(std::launch::async, [&] { return all_of(*from); });
    spike_sender to(there, {"a"});
    std::vector<std::int64_t> times;
    for (std::int64_t time = 10'000; time > 0; --time) times.push_back(time - 1);
    to.send(times, std::vector<unit_id>(times.size()), 10'000);
    to.finish();

    EXPECT_EQ(to.counts().frames, 4U);
    EXPECT_EQ(all.get().sum.spikes.size(), times.size());
}

// The session is killed and begins again, several times, with what was safe.
TEST_F(AcknowledgedStream, GoesOnWithASessionThatWasKilled) {
    auto sending = std::async(std::launch::async, [&] {
        spike_sender to(there, {"a"});
        for (std::int64_t begin = 0; begin < 50'000; begin += 50) {
            send_numbers(to, begin, begin + 50);
            std::this_thread::sleep_for(500us);
        }
        to.finish();
        return to.counts();
    });
    received safe;
    constexpr int kills = 8;
    for (int run = 0; run <= kills; ++run) {
        std::vector<sender_progress> known;
        for (const auto& [name, one] : safe.progress) known.push_back(one);
        const auto from = acknowledged_stream(here, senders({"a"}, known));
        std::vector<source_block> blocks;
        std::size_t on_disk = 0;
        from->acknowledge_after([&] { return on_disk; });
        const auto end = std::chrono::steady_clock::now() + 40ms;
        while (std::chrono::steady_clock::now() < end || run == kills) {
            const auto block = from->next();
            if (!block) break;
            blocks.push_back(*block);
            on_disk = run == kills ? blocks.size() : blocks.size() / 2;
        }
        for (std::size_t i = 0; i < on_disk; ++i) safe.add(blocks[i]);
    }

    expect_numbers(safe.sum.spikes, 50'000);
    EXPECT_EQ(safe.sum.missing, 0U);
    EXPECT_GT(sending.get().sent_again, 0U);
    EXPECT_EQ(safe.progress["spikes"], (sender_progress{"spikes", "recording", 1001, true}));
}

TEST_F(AcknowledgedStream, AcknowledgesOnlyWhatIsSafe) {
    const auto from = acknowledged_stream(here, senders({}));
    std::atomic<std::uint64_t> safe = 0;
    from->acknowledge_after([&] { return safe.load(); });
    auto all = std::async(std::launch::async, [&] { return all_of(*from); });
    spike_sender to(there, {"a"}, {.patience = 1s});
    send_numbers(to, 0, 1000);
    std::this_thread::sleep_for(100ms);
    send_numbers(to, 1000, 1050);
    EXPECT_EQ(to.counts().unacknowledged, 21U);
    safe = 1'000'000;
    to.finish();
    EXPECT_EQ(to.counts().unacknowledged, 0U);
    EXPECT_EQ(all.get().sum.spikes.size(), 1050U);
}

TEST_F(AcknowledgedStream, EndsWhenItIsStopped) {
    std::stop_source stop;
    const auto from = acknowledged_stream(here, senders({}), stop.get_token());
    std::jthread stopping([&] { stop.request_stop(); });
    EXPECT_FALSE(from->next());
}

TEST_F(AcknowledgedStream, SaysWhatIsWrong) {
    const auto from = acknowledged_stream(here, senders({}));
    EXPECT_EQ(text_of([&] { acknowledged_stream(here, senders({})); }),
              "cannot listen at " + here + ": Address already in use");
    EXPECT_EQ(text_of([] { acknowledged_stream("tcp://host", senders({})); }),
              "cannot listen at tcp://host: Invalid argument");
    EXPECT_EQ(text_of([] { spike_sender("tcp://127.0.0.1:5600", {}); }),
              "'tcp://127.0.0.1:5600' is no address: expected spikeweave://HOST:5600");
    EXPECT_EQ(text_of([] { spike_sender("spikeweave://host", {}); }),
              "cannot send to spikeweave://host: Invalid argument");
    EXPECT_EQ(text_of([&] { spike_sender(there, {"a\n"}); }), "'units': 'a\\x0a' is no name");

    std::stop_source stop;
    auto all = std::async(std::launch::async, [&] { return all_of(*from); });
    spike_sender one(there, {"a"});
    const std::int64_t time = 5;
    const unit_id unit{1};
    EXPECT_EQ(text_of([&] {
                  one.send({&time, 1}, {&unit, 1}, 6);
              }),
              "a spike of the unit 1, but there are 1");
    EXPECT_EQ(text_of([&] { one.send({&time, 1}, {}, 6); }), "there are 1 times, but 0 units");
    EXPECT_EQ(text_of([&] { one.send({}, {}, INT64_MIN); }),
              "the time -9223372036854775808 us is out of range");
    one.send({}, {}, 6);
    spike_sender other(there, {"b"}, {.source = "other", .clock = "wall"});
    EXPECT_EQ(text_of([&] { other.finish(); }),
              there +
                  " refuses what it is sent: the clock is 'wall', but that of the source "
                  "'spikes' is 'recording'");
    one.finish();
    EXPECT_EQ(text_of([&] { one.send({}, {}, 6); }), "the sender has finished");
    EXPECT_EQ(all.get().sum.unreadable, 1U);
    spike_sender alone(there, {"a"}, {.patience = 50ms});
    EXPECT_EQ(text_of([&] { alone.send({}, {}, 6); }), there + " does not answer");
}

}  // namespace
}  // namespace spikeweave::live
