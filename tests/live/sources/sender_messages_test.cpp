#include "live/sources/sender_messages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

const std::vector<std::int64_t> sent_times{-5, std::int64_t{1} << 60};
const std::vector<unit_id> sent_units{unit_id{7}, unit_id{4'000'000'000}};

TEST(SenderMessages, AFrameHasTheBytesOfItsDescription) {
    const std::string message = spike_frame_message(258, 3, true, std::vector<std::int64_t>{-1},
                                                    std::vector<unit_id>{unit_id{2}});
    const std::string expected(
        "SWS1"
        "\x02\x01\0\0\0\0\0\0"
        "\x03\0\0\0\0\0\0\0"
        "\x01\0\0\0"
        "\x01\0\0\0"
        "\xff\xff\xff\xff\xff\xff\xff\xff"
        "\x02\0\0\0"
        "\0\0\0\0",
        44);
    EXPECT_EQ(message, expected);
}

TEST(SenderMessages, AFrameIsReadAsItWasWritten) {
    const std::string message = spike_frame_message(9, -40, false, sent_times, sent_units);

    const spike_frame frame = read_spike_frame(message);

    EXPECT_EQ(frame.number, 9U);
    EXPECT_EQ(frame.watermark_us, -40);
    EXPECT_FALSE(frame.is_last);
    ASSERT_EQ(frame.size(), 2U);
    EXPECT_EQ(frame[0], (spike_event{-5, unit_id{7}}));
    EXPECT_EQ(frame[1], (spike_event{std::int64_t{1} << 60, unit_id{4'000'000'000}}));
    const std::string last = spike_frame_message(1, {}, true, {}, {});
    EXPECT_TRUE(read_spike_frame(last).is_last);
    EXPECT_EQ(read_spike_frame(last).watermark_us, std::nullopt);
}

// Every length but the right one is refused, and so is every other value of what has only one.
TEST(SenderMessages, AFrameThatIsNotWholeIsRefused) {
    const std::string message = spike_frame_message(9, -40, false, sent_times, sent_units);
    for (std::size_t size = 0; size < message.size(); ++size)
        EXPECT_NE(text_of([&] { read_spike_frame(message.substr(0, size)); }), "") << size;
    EXPECT_EQ(text_of([&] { read_spike_frame(message + "x"); }),
              "a frame of 61 bytes with 2 spikes");
    const auto with = [&](std::size_t at, auto value) {
        std::string changed = message;
        std::memcpy(changed.data() + at, &value, sizeof value);
        return text_of([&] { read_spike_frame(changed); });
    };
    EXPECT_EQ(with(0, 'T'), "it begins neither like a hello nor like a frame");
    EXPECT_EQ(with(4, std::uint64_t{0}), "a frame has the number 0");
    EXPECT_EQ(with(4, ~std::uint64_t{0}), "a frame has the number 18446744073709551615");
    EXPECT_EQ(with(12, INT64_MIN), "the time -9223372036854775808 us is out of range");
    EXPECT_EQ(with(20, 3U), "a frame of 60 bytes with 3 spikes");
    EXPECT_EQ(with(20, 0xffff'ffffU), "a frame of 60 bytes with 4294967295 spikes");
    EXPECT_EQ(with(24, 2U), "a frame has the flags 2");
    EXPECT_EQ(with(28, INT64_MAX), "the time 9223372036854775807 us is out of range");
    EXPECT_EQ(with(56, 1U), "the last four bytes of a spike are not 0");
    const std::vector<std::int64_t> many(spike_frame::most_spikes + 1);
    EXPECT_EQ(text_of([&] {
                  read_spike_frame(
                      spike_frame_message(1, 0, false, many, std::vector<unit_id>(many.size())));
              }),
              "a frame of 65580 bytes with 4097 spikes");
}

TEST(SenderMessages, AHelloIsReadAsItWasWritten) {
    sender_hello hello{.source = "probe a", .clock = "µ", .units = {"n0", "\"n1\""}};
    EXPECT_EQ(hello_message(hello),
              R"({"clock":"µ","hello":1,"source":"probe a","units":["n0","\"n1\""]})");
    EXPECT_EQ(read_hello(hello_message(hello)), hello);
    hello.next = 7;
    EXPECT_EQ(read_hello(hello_message(hello)), hello);
}

TEST(SenderMessages, AHelloThatSaysTooLittleIsRefused) {
    const auto refused = [](const std::string& message) {
        return text_of([&] { read_hello(message); });
    };
    EXPECT_EQ(refused("{"), "it is no JSON object");
    EXPECT_EQ(refused(std::string(100'000, '[')), "it is no JSON object");
    EXPECT_EQ(refused("{}"), "'hello' is missing");
    EXPECT_EQ(refused(R"({"hello":2})"), "'hello' is not 1");
    EXPECT_EQ(refused(R"({"hello":1})"), "'source' is missing");
    EXPECT_EQ(refused(R"({"hello":1,"source":5})"), "'source' is no text");
    EXPECT_EQ(refused(R"({"hello":1,"source":"a","clock":"c"})"), "'units' is missing");
    EXPECT_EQ(refused(R"({"hello":1,"source":"a","clock":"c","units":"n0"})"),
              "'units' is no list");
    const std::string begin = R"({"hello":1,"source":"a","clock":"c","units":)";
    EXPECT_EQ(refused(begin + "[5]}"), "'units' is no text");
    EXPECT_EQ(refused(begin + R"(["a\n"]})"), R"('units': 'a\x0a' is no name)");
    EXPECT_EQ(refused(begin + R"([""]})"), "'units': '' is no name");
    EXPECT_EQ(refused(begin + "[\"" + std::string(257, 'x') + "\"]}").substr(0, 11), "'units': 'x");
    EXPECT_EQ(refused(begin + R"([],"next":-1})"), "'next' is no number of a frame");
    EXPECT_EQ(refused(begin + R"([],"next":0})"), "'next' is 0");
    EXPECT_EQ(refused(std::string(sender_hello::longest_message + 1, ' ')),
              "a hello of 4194305 bytes");
}

TEST(SenderMessages, AnswersAreReadAsTheyWereWritten) {
    for (const sender_answer& answer :
         {sender_answer{.acknowledged = 5, .credit = 6}, sender_answer{.next = 7},
          sender_answer{.asks_for_hello = true}, sender_answer{.error = "it's \"wrong\""}})
        EXPECT_EQ(read_answer(answer_message(answer)), answer);
    EXPECT_EQ(answer_message({.acknowledged = 5, .credit = 6, .next = 7}),
              R"({"ack":5,"credit":6,"next":7})");
    EXPECT_EQ(answer_message({.asks_for_hello = true}), R"({"say":"hello"})");
    EXPECT_EQ(text_of([] { read_answer("5"); }), "it is no JSON object");
    EXPECT_EQ(text_of([] { read_answer(R"({"ack":5})"); }), "'credit' is missing");
    EXPECT_EQ(read_answer(R"({"error":5})").error, "it says no reason");
}

}  // namespace
}  // namespace spikeweave::live
