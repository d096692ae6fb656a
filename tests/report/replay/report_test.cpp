#include "spikeweave/report/replay.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Two chains of three units, of which the second runs backwards in the second event.
replay_report small_replay_report() {
    return {.spikes = {{1'000'000, 1'005'000, 2'000'000},
                       {unit_id{0}, unit_id{1}, unit_id{2}},
                       {"a", "b", "c"},
                       {0s, 3s}},
            .chains = {{{unit_id{0}, unit_id{1}}, {{4ms, 6ms}}},
                       {{unit_id{2}, unit_id{1}}, {{1ms, 2ms}}}},
            .events = {{990ms, 1100ms}, {1990ms, 2100ms}},
            .scores = {.tests = {{.chain = 0, .scale = 0.5, .count = 7, .q = 0.05},
                                 {.chain = 1,
                                  .direction = replay_direction::reverse,
                                  .count = 9,
                                  .expected = 2.5,
                                  .q = 0.01,
                                  .scored = 2,
                                  .significant = 1}},
                       .events = {{.event = 1, .chain = 1, .active = 2, .tau = -1}}}};
}

TEST(ReplayReport, NumbersChainsAndEventsFromOne) {
    const temporary_folder place;

    write_report(place.path() / "out", small_replay_report());

    EXPECT_EQ(names_in(place.path() / "out"),
              (std::set<std::string>{"replay.tsv", "events.tsv", "run.json", "result.json",
                                     "report.html"}));
    const std::string tests = read_bytes(place.path() / "out/replay.tsv");
    EXPECT_NE(tests.find("\n1\ta→b\t(4,6] ms\tforward\t0.5\t7\t0\t0\t1\t0.05\tno\t"),
              std::string::npos)
        << tests;
    EXPECT_NE(
        tests.find("\n2\tc→b\t(1,2] ms\treverse\t1\t9\t2.5\t0\t1\t0.01\tyes\t2\t1\t0\t1\t1\n"),
        std::string::npos)
        << tests;
    EXPECT_EQ(read_bytes(place.path() / "out/events.tsv"),
              "event\tbegin_s\tend_s\tchain\tactive\ttau\tp_forward\tp_reverse\n"
              "2\t1.990000\t2.100000\t2\t2\t-1\t1\t1\n");
}

TEST(ReplayReport, SaysTheSameInJson) {
    const auto json = nlohmann::json::parse(to_json(small_replay_report()));

    EXPECT_EQ(json["chains"][1]["units"], (nlohmann::json{"c", "b"}));
    EXPECT_EQ(json["tests"][0]["significant"], false);
    EXPECT_EQ(json["tests"][1]["chain"], 2);
    EXPECT_EQ(json["tests"][1]["direction"], "reverse");
    EXPECT_EQ(json["tests"][1]["significant"], true);
    EXPECT_EQ(json["events"][0]["event"], 2);
    EXPECT_EQ(json["events"][0]["begin_s"], 1.99);
    EXPECT_EQ(json["run"]["replay"]["chains"], 2);
    EXPECT_EQ(json["run"]["summary"], verdict_of(small_replay_report()));
}

TEST(ReplayReport, ListsTheLeastQFirst) {
    const std::string text = summarize(small_replay_report());

    EXPECT_EQ(text.substr(0, text.find('\n')),
              "0 of 2 chains replayed forward, 1 in reverse; 2 events in 3 s, 5 % false discovery "
              "rate.");
    EXPECT_TRUE(text.starts_with(verdict_of(small_replay_report())));
    EXPECT_LT(text.find("c→b"), text.find("a→b"));
}

}  // namespace
}  // namespace spikeweave
