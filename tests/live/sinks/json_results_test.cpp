#include "live/sinks/json_results.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace spikeweave::live {
namespace {

episode pair_of(std::uint32_t first, std::uint32_t second) {
    return {{unit_id{first}, unit_id{second}}, {{duration{0}, duration{5'000}}}};
}

TEST(JsonResults, WritesALineForEachResult) {
    std::string text;
    json_results results({{pair_of(0, 1)}}, std::make_unique<written_lines>(
                                                [&](std::string_view lines) { text += lines; }));
    results.take(units_added{std::vector<std::string>{"a", "b\"\\"}});
    results.take(units_added{std::vector<std::string>{"\xc2\xb5\xff"}});
    const std::vector<std::int64_t> times{-4, 3};

    results.take(detection{.begin_us = -4, .end_us = 3, .times_us = times});
    EXPECT_EQ(text, "");
    results.take(
        mined_window{{{.number = -1, .begin = duration{-10}, .end = duration{0}},
                      3,
                      {.episodes = {{{{unit_id{2}}, {}}, 2}, {pair_of(0, 2), 1}}, .threshold = 1}},
                     true});
    results.take(mined_window{{{.number = 3, .begin = duration{3}, .end = duration{4}},
                               2,
                               {.episodes = {}, .threshold = 1, .complete_to_size = 2}},
                              false,
                              7,
                              1});
    results.take(mined_window{
        {{.number = 4, .begin = duration{4}, .end = duration{5}}, 9, {.complete_to_size = 0}}});
    const std::string so_far = text;
    results.take(epoch_ended{});
    EXPECT_EQ(text, so_far) << "only windows are written before the block has ended";
    results.take(block_ended{{}});
    results.take(session_ended{{.order = {.accepted = 3}, .repeated = 1, .detections = 1}});

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
        R"("incomplete":0,"skipped":0,"undelivered":0})"
        "\n");
}

TEST(JsonResults, SaysWhatIsNoTriggerAndWhatIsExpectedByChance) {
    std::string text;
    json_results results(
        {{pair_of(0, 1), 1}},
        std::make_unique<written_lines>([&](std::string_view lines) { text += lines; }),
        {.patterns = {duration{2'500}, {{{unit_id{1}, 0}, {unit_id{0}, 2}}}}});
    results.take(units_added{std::vector<std::string>{"a", "b"}});
    const std::vector<std::int64_t> times{3, 5'004};

    results.take(chance_rates{-5, 10, {0.25, 1e-7}});
    results.take(chance_rates{10, 20, {1, 2}});
    results.take(detection{.armed = 1,
                           .begin_us = 0,
                           .end_us = 5'004,
                           .times_us = times,
                           .suppressed = suppression::hold_off});
    results.take(armed_tallied{std::vector<armed_tally>{{4, 3, 0.5, 1.25}, {2, 0, 1e-6, 2e-6}}});
    results.take(session_ended{
        {.detections = 6, .suppressed = {.hold_off = 1, .rate = 2, .mute = 1, .unchecked = 1}}});

    EXPECT_EQ(text,
              R"({"type":"chance","t_us":[-5,10],"armed":[{"episode":0,"units":["a","b"],)"
              R"("expected_per_min":0.25},{"pattern":0,"units":["b","a"],"lags_us":[0,5000],)"
              R"("expected_per_min":1e-07}]})"
              "\n"
              R"({"type":"detection","pattern":0,"units":["b","a"],"lags_us":[0,5000],)"
              R"("t_us":[0,5004],"spikes_us":[3,5004],"suppressed":"hold-off"})"
              "\n"
              R"({"type":"stats","units":2,"spikes":0,"late":0,"duplicates":0,"missing":0,)"
              R"("belated":0,"repeated":0,"unreadable":0,"epochs":0,"detections":6,"windows":0,)"
              R"("incomplete":0,"skipped":0,"undelivered":0,)"
              R"("triggers":1,"suppressed":{"hold-off":1,"rate":2,"mute":1,"unchecked":1},)"
              R"("armed":[{"episode":0,"units":["a","b"],"detected":4,"completed":3,)"
              R"("completed_share":0.75,)"
              R"("expected":0.5,"expected_per_min":1.25},{"pattern":0,"units":["b","a"],)"
              R"("lags_us":[0,5000],"detected":2,"expected":1e-06,"expected_per_min":2e-06}]})"
              "\n");
}

TEST(JsonResults, TellsOfLossesWhenTheyBeginAndDouble) {
    std::vector<std::string> written;
    json_results results({}, std::make_unique<written_lines>(
                                 [&](std::string_view lines) { written.emplace_back(lines); }));
    for (std::uint64_t lost = 0; lost < 10; ++lost)
        results.take(block_ended{{.order = {.late = lost / 2}, .unreadable = lost - lost / 2}});

    ASSERT_EQ(written.size(), 4U);
    EXPECT_EQ(written[0], "{\"type\":\"alarm\",\"missing\":0,\"unreadable\":1,\"late\":0}\n");
    EXPECT_EQ(written[3], "{\"type\":\"alarm\",\"missing\":0,\"unreadable\":4,\"late\":4}\n");
}

TEST(JsonResults, TellsOfDestinationsThatFail) {
    std::vector<std::string> written;
    const auto report = std::make_shared<delivery_report>("serial:///dev/\"x\"");
    json_results results({}, std::make_unique<written_lines>([&](std::string_view lines) {
                             written.emplace_back(lines);
                         }),
                         {.reports = {report}});
    results.take(block_ended{{}});
    report->tell_delivered();
    results.take(block_ended{{}});
    EXPECT_TRUE(written.empty());
    report->tell_trouble("no connection");
    results.take(block_ended{{}});
    results.take(block_ended{{}});
    for (int i = 0; i < 4; ++i) {
        report->tell_lost("it is gone");
        results.take(block_ended{{}});
    }
    EXPECT_EQ(report->lost(), 4U);
    EXPECT_EQ(report->delivered(), 1U);

    const std::string begin = R"({"type":"alarm","to":"serial:///dev/\"x\"","undelivered":)";
    EXPECT_EQ(written, (std::vector<std::string>{
                           begin + "0,\"reason\":\"no connection\"}\n",
                           begin + "1,\"reason\":\"it is gone\"}\n",
                           begin + "2,\"reason\":\"it is gone\"}\n",
                           begin + "4,\"reason\":\"it is gone\"}\n",
                       }));
}

TEST(JsonResults, TellsWhatHasComeOnRequest) {
    const auto lines_of = [](duration stats_every) {
        std::size_t lines = 0;
        json_results results({},
                             std::make_unique<written_lines>([&](std::string_view) { ++lines; }),
                             {.stats_every = stats_every});
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(60);
        while (std::chrono::steady_clock::now() < end) {
            results.take(block_ended{{}});
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return lines;
    };
    EXPECT_EQ(lines_of(duration{0}), 0U);
    const std::size_t lines = lines_of(std::chrono::milliseconds(10));
    EXPECT_GE(lines, 1U);
    EXPECT_LE(lines, 6U);
}

}  // namespace
}  // namespace spikeweave::live
