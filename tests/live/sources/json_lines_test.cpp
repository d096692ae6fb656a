#include "live/sources/json_lines.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::live {
namespace {

spike_event event_of(std::int64_t time, std::uint32_t unit) {
    return {time, unit_id{unit}};
}

std::vector<source_block> blocks_of(const std::string& text, std::vector<std::string> known = {}) {
    const temporary_folder folder;
    json_lines from(folder.file("s.jsonl", text), std::move(known));
    std::vector<source_block> blocks;
    while (auto block = from.next()) blocks.push_back(std::move(*block));
    return blocks;
}

std::string line_of(std::int64_t time, const std::string& unit) {
    return R"({"t_us":)" + std::to_string(time) + R"(,"unit":")" + unit + "\"}\n";
}

TEST(JsonLines, GivesSpikesAndTheUnitsThatAppear) {
    const auto blocks = blocks_of(line_of(5, "b") + "\n" + R"({"unit": 7, "t_us": -3, "x": [1]})" +
                                      "\r\n" + R"({"t_us":9,"unit":"a","watermark_us":9})" + "\n",
                                  {"a"});

    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks[0], (source_block{.new_units = {"b", "7"},
                                       .spikes = {event_of(5, 1), event_of(-3, 2), event_of(9, 0)},
                                       .watermark_us = 9}));
}

// A spike before a watermark that came before it is late, wherever the stream is cut.
TEST(JsonLines, EndsABlockAtAWatermark) {
    const auto blocks =
        blocks_of(line_of(5, "a") + "{\"watermark_us\":8}\n" + line_of(6, "a"), {"a"});

    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0], (source_block{.spikes = {event_of(5, 0)}, .watermark_us = 8}));
    EXPECT_EQ(blocks[1], (source_block{.spikes = {event_of(6, 0)}}));
}

TEST(JsonLines, CountsLinesThatCannotBeRead) {
    const std::vector<std::string> unreadable{
        "x",
        "[]",
        "{}",
        R"({"t_us":1})",
        R"({"unit":"a"})",
        R"({"t_us":1.5,"unit":"a"})",
        R"({"t_us":"1","unit":"a"})",
        R"({"t_us":1,"unit":""})",
        R"({"t_us":1,"unit":-1})",
        R"({"t_us":1,"unit":"a\tb"})",
        R"({"t_us":1,"unit":"\u202e"})",
        R"({"t_us":1,"unit":"\u0085"})",
        R"({"t_us":1,"unit":"a\u009bb"})",
        R"({"t_us":1,"unit":"\ufffe"})",
        R"({"t_us":1,"unit":["a"]})",
        R"({"t_us":9223372036854775807,"unit":"a"})",
        R"({"watermark_us":null})",
        R"({"t_us":1,"unit":"a"} {})",
        R"({"t_us":1,"unit":"a","watermark_us":90000000000})",
        "{\"t_us\":1,\"unit\":\"\xff\"}",
        std::string(json_lines::longest_line + 1, ' '),
        std::string(3 * json_lines::longest_line, 'x'),
    };
    for (const std::string& line : unreadable) {
        const auto blocks =
            blocks_of(line_of(1, "a") + line + "\n" + line_of(2, "a") + line, {"a"});
        ASSERT_EQ(blocks.size(), 3U) << line.substr(0, 60);
        EXPECT_EQ(blocks[0], (source_block{.spikes = {event_of(1, 0)}})) << line.substr(0, 60);
        EXPECT_EQ(blocks[1], (source_block{.unreadable = 1, .spikes = {event_of(2, 0)}}));
        EXPECT_EQ(blocks[2], (source_block{.unreadable = 1})) << line.substr(0, 60);
    }
}

TEST(JsonLines, BeginsAnEpochWhereTheClockWasSet) {
    const std::int64_t day = stream_clock::longest_leap_us;
    const auto blocks = blocks_of(
        line_of(5, "a") + line_of(5 + day, "a") + line_of(6 + 2 * day, "a") + line_of(6, "a"),
        {"a"});

    ASSERT_EQ(blocks.size(), 3U);
    EXPECT_FALSE(blocks[0].begins_epoch);
    EXPECT_EQ(blocks[0].spikes.size(), 2U);
    EXPECT_TRUE(blocks[1].begins_epoch);
    EXPECT_TRUE(blocks[2].begins_epoch);
}

// One time that was hours ahead does not make all that follow late.
TEST(JsonLines, BeginsAnEpochWhenManyTimesAgreeThatOneWasWrong) {
    constexpr std::int64_t ahead = 36'000'000'000;
    std::string text = line_of(1'000, "a") + line_of(ahead, "a");
    for (std::int64_t k = 1; k <= 30; ++k) text += line_of(1'000 + 1'000 * k, "a");
    const auto blocks = blocks_of(text, {"a"});

    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].spikes.size(), 1U + stream_clock::agreeing);
    EXPECT_TRUE(blocks[1].begins_epoch);
    EXPECT_EQ(blocks[1].spikes.front(), event_of(1'000 + 1'000 * stream_clock::agreeing, 0));
    EXPECT_EQ(blocks[1].spikes.size(), 31U - stream_clock::agreeing);
}

TEST(JsonLines, TakesTimesThatAreInTheOrderThatWasStatedForThoseOfOneEpoch) {
    std::string text;
    for (std::int64_t k = 0; k < 50; ++k) text += line_of(60'000'000 + k, "a");
    for (std::int64_t k = 0; k < 50; ++k) text += line_of(30'000'000 + k, "b");
    const temporary_folder folder;
    json_lines from(folder.file("s.jsonl", text), {"a", "b"}, {}, duration{30'000'000});
    const auto block = from.next();
    ASSERT_TRUE(block);
    EXPECT_EQ(block->spikes.size(), 100U);
    EXPECT_FALSE(from.next());
}

TEST(JsonLines, TellsTheFirstLineThatCannotBeRead) {
    const temporary_folder folder;
    const auto path = folder.file("s.jsonl", line_of(1, "a") + "nonsense\x1b[31m\nmore\n");
    json_lines from(path, {});
    EXPECT_EQ(from.first_unreadable(), "");
    while (from.next()) continue;
    EXPECT_EQ(from.first_unreadable(),
              path.string() + R"(, line 2: found 'nonsense\x1b[31m', expected a line such as )"
                              R"({"t_us":1000,"unit":"a"})");
}

TEST(JsonLines, SaysWhatCannotBeOpened) {
    EXPECT_EQ(text_of([] { json_lines("/nowhere/s.jsonl", {}); }),
              "cannot read /nowhere/s.jsonl: No such file or directory");
}

TEST(JsonLines, EndsWhenItIsStopped) {
    const temporary_folder folder;
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::stop_source stop;
    json_lines from(pipe, {}, stop.get_token());
    std::jthread stopping([&] { stop.request_stop(); });
    EXPECT_EQ(from.next(), std::nullopt);
}

// What a stream says does not depend on how it is cut.
TEST(JsonLinesProperty, GivesTheSameSpikesHoweverTheyCome) {
    std::mt19937_64 random(3);
    for (std::size_t i = 0; i < property_cases(20); ++i) {
        const temporary_folder folder;
        std::string text;
        std::int64_t time = 0;
        for (std::uint64_t k = random() % 300; k-- > 0;) {
            time += static_cast<std::int64_t>(random() % 100);
            if (random() % 9 == 0) text += "?\n";
            if (random() % 9 == 0) text += "{\"watermark_us\":" + std::to_string(time) + "}\n";
            text += line_of(time, "n" + std::to_string(random() % 12));
        }
        const auto whole = [](const std::vector<source_block>& blocks) {
            source_block all;
            for (const source_block& one : blocks) {
                all.unreadable += one.unreadable;
                all.spikes.insert(all.spikes.end(), one.spikes.begin(), one.spikes.end());
                all.new_units.insert(all.new_units.end(), one.new_units.begin(),
                                     one.new_units.end());
                if (one.watermark_us) all.watermark_us = one.watermark_us;
            }
            return all;
        };
        const auto pipe = folder.path() / "pipe";
        ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
        json_lines from(pipe, {});
        std::jthread sender([&, seed = random()]() mutable {
            const int to = ::open(pipe.c_str(), O_WRONLY);
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t bytes = std::min<std::size_t>(1 + seed % 200, text.size() - at);
                seed = seed * 6364136223846793005U + 1;
                seed ^= seed >> 33U;
                ASSERT_EQ(::write(to, text.data() + at, bytes), static_cast<ssize_t>(bytes));
                at += bytes;
            }
            ::close(to);
        });
        std::vector<source_block> blocks;
        while (auto block = from.next()) blocks.push_back(std::move(*block));
        ASSERT_EQ(whole(blocks), whole(blocks_of(text))) << "case " << i;
    }
}

}  // namespace
}  // namespace spikeweave::live
