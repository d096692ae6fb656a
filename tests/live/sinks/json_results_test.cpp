#include "live/sinks/json_results.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace spikeweave::live {
namespace {

episode pair_of(std::uint32_t first, std::uint32_t second) {
    return {{unit_id{first}, unit_id{second}}, {{duration{0}, duration{5'000}}}};
}

TEST(JsonResults, WritesALineForEachResult) {
    std::string text;
    json_results results({{pair_of(0, 1)}}, [&](std::string_view lines) { text += lines; });
    results.units_added(std::vector<std::string>{"a", "b\"\\"});
    results.units_added(std::vector<std::string>{"\xc2\xb5\xff"});
    const std::vector<std::int64_t> times{-4, 3};

    results.detected({.episode = 0, .times_us = times});
    EXPECT_EQ(text, "");
    results.mined({{{.number = -1, .begin = duration{-10}, .end = duration{0}},
                    3,
                    {.episodes = {{{{unit_id{2}}, {}}, 2}, {pair_of(0, 2), 1}}, .threshold = 1}},
                   true});
    results.mined({{{.number = 3, .begin = duration{3}, .end = duration{4}},
                    2,
                    {.episodes = {}, .threshold = 1, .complete_to_size = 2}},
                   false,
                   7,
                   1});
    results.mined(
        {{{.number = 4, .begin = duration{4}, .end = duration{5}}, 9, {.complete_to_size = 0}}});
    const std::string so_far = text;
    results.epoch_ended();
    EXPECT_EQ(text, so_far) << "only windows are written before the block has ended";
    results.block_ended({});
    results.session_ended({.order = {.accepted = 3}, .repeated = 1, .detections = 1});

    EXPECT_EQ(
        text,
        R"({"type":"detection","episode":0,"units":["a","b\"\\"],"t_us":[-4,3],)"
        R"("spikes_us":[-4,3]})"
        "\n"
        R"({"type":"window","window":-1,"epoch":0,"t_us":[-10,0],"spikes":3,"threshold":1,)"
        R"("has_gap":true,"complete_to_size":null,"episodes":[{"units":["µ�"],"delays_us":[],"count":2},)"
        R"({"units":["a","µ�"],"delays_us":[[0,5000]],"count":1}]})"
        "\n"
        R"({"type":"window","window":3,"epoch":1,"t_us":[3,4],"spikes":2,"threshold":1,)"
        R"("has_gap":false,"complete_to_size":2,"episodes":[]})"
        "\n"
        R"({"type":"skipped","window":4,"epoch":0,"t_us":[4,5],"spikes":9,"has_gap":false})"
        "\n"
        R"({"type":"epoch"})"
        "\n"
        R"({"type":"stats","units":3,"spikes":3,"late":0,"duplicates":0,"missing":0,)"
        R"("belated":0,"repeated":1,"unreadable":0,"epochs":0,"detections":1,"windows":0,)"
        R"("incomplete":0,"skipped":0})"
        "\n");
}

TEST(JsonResults, TellsOfLossesWhenTheyBeginAndDouble) {
    std::vector<std::string> written;
    json_results results({}, [&](std::string_view lines) { written.emplace_back(lines); });
    for (std::uint64_t lost = 0; lost < 10; ++lost)
        results.block_ended({.order = {.late = lost / 2}, .unreadable = lost - lost / 2});

    ASSERT_EQ(written.size(), 4U);
    EXPECT_EQ(written[0], "{\"type\":\"alarm\",\"missing\":0,\"unreadable\":1,\"late\":0}\n");
    EXPECT_EQ(written[3], "{\"type\":\"alarm\",\"missing\":0,\"unreadable\":4,\"late\":4}\n");
}

}  // namespace
}  // namespace spikeweave::live
