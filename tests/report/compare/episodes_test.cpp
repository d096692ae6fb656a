#include "spikeweave/report/compare.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/count_of.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// A pair that is stronger in b, a pair whose ratio is not known, and a chain.
episode_comparison_report small_comparison_report() {
    episode_comparison_report out;
    out.result.unit_names = {"a", "<b>", "c"};
    const ratio_change none{1, 1, {0, 0, 0}, {1, 1, 1}, 1};
    episode_change stronger;
    stronger.what = {{unit_id{0}, unit_id{1}}, {{4ms, 6ms}}};
    stronger.counts = {10, 40};
    stronger.rate = none;
    stronger.excess = {0.1, 0.4, {0.3, 0.2, 0.4}, {4, 3, 5}, 0.001};
    stronger.excess_q = 0.002;
    stronger.change = change_kind::excess;
    episode_change silent;
    silent.what = {{unit_id{1}, unit_id{2}}, {{1ms, 2ms}}};
    silent.rate = {0, 1, {1, 0, 2}, {unknown, unknown, unknown}, 1};
    silent.excess = {unknown, unknown, {unknown, unknown, unknown}, {}, 1};
    episode_change chain;
    chain.what = {{unit_id{0}, unit_id{1}, unit_id{2}}, {{4ms, 6ms}, {1ms, 2ms}}};
    chain.rate = chain.excess = none;
    out.result.findings = {stronger, silent, chain};
    return out;
}

TEST(CompareEpisodes, WritesATableOfAllFindingsAndAGraphOfThePairs) {
    const temporary_folder place;

    write_report(place.path() / "out", small_comparison_report());

    EXPECT_EQ(names_in(place.path() / "out"),
              (std::set<std::string>{"differences.tsv", "differences.graphml", "run.json",
                                     "result.json", "report.html"}));
    const std::string table = read_bytes(place.path() / "out/differences.tsv");
    EXPECT_NE(table.find("\n1\t2\ta→<b>\t(4,6] ms\texcess\tup\t0\t0\t10\t40\t"), std::string::npos)
        << table;
    EXPECT_NE(table.find("\n2\t2\t<b>→c\t(1,2] ms\tnone\tsame\t"), std::string::npos) << table;
    EXPECT_NE(table.find("\n3\t3\ta→<b>→c\t"), std::string::npos) << table;
    EXPECT_EQ(table.find("nan"), std::string::npos);
    const std::string graph = read_bytes(place.path() / "out/differences.graphml");
    EXPECT_EQ(count_of("<edge ", graph), 2U);
    EXPECT_EQ(count_of("&lt;b&gt;", graph), 1U);
    EXPECT_NE(
        graph.find("<edge source=\"u0\" target=\"u1\"><data key=\"delay_low_ms\">4</data><data "
                   "key=\"delay_high_ms\">6</data>"),
        std::string::npos);
    EXPECT_NE(graph.find("<data key=\"change\">excess</data><data key=\"direction\">up</data>"),
              std::string::npos);
    EXPECT_EQ(graph.find("nan"), std::string::npos);
}

TEST(CompareEpisodes, NamesConditionsByTheEndsOfTheirPathsThatDiffer) {
    using names = std::array<std::string, 2>;
    EXPECT_EQ(condition_names("x/before.nwb", "y/after.nwb"), (names{"before.nwb", "after.nwb"}));
    EXPECT_EQ(condition_names("data/1/s.tsv", "data/2/s.tsv"), (names{"1/s.tsv", "2/s.tsv"}));
    EXPECT_EQ(condition_names("before/", "./after"), (names{"before", "after"}));
    EXPECT_EQ(condition_names("s.tsv", "old/s.tsv"), (names{"s.tsv", "old/s.tsv"}));
    EXPECT_EQ(condition_names("s.tsv", "./s.tsv"), (names{"a", "b"}));
    EXPECT_EQ(condition_names("", "s.tsv"), (names{"a", "b"}));
    EXPECT_EQ(condition_names("a\033[1m", "b"), (names{"a\\x1b[1m", "b"}));

    episode_comparison_report report = small_comparison_report();
    report.names = {"before.nwb", "after.nwb"};
    EXPECT_NE(verdict_of(report).find(" between before.nwb and after.nwb, "), std::string::npos);
    const std::string text = summarize(report);
    EXPECT_NE(text.find("after.nwb less before.nwb"), std::string::npos) << text;
    EXPECT_EQ(nlohmann::json::parse(to_json(report))["run"]["input"]["b"]["name"], "after.nwb");
}

TEST(CompareEpisodes, SaysWhatIsNotKnownInJsonByNull) {
    const auto json = nlohmann::json::parse(to_json(small_comparison_report()));

    EXPECT_EQ(json["run"]["summary"],
              "1 of 3 connections and chains changed beyond the firing rates between a and b, 0 "
              "with them; 5 % false discovery rate.");
    EXPECT_TRUE(summarize(small_comparison_report())
                    .starts_with(json["run"]["summary"].get<std::string>() + '\n'));
    EXPECT_EQ(json["findings"][0]["excess_q"], 0.002);
    EXPECT_EQ(json["findings"][0]["direction"], "up");
    EXPECT_TRUE(json["findings"][1]["excess_a"].is_null());
    EXPECT_TRUE(json["findings"][1]["rate_ratio"].is_null());
    EXPECT_EQ(json["findings"][2]["delays_ms"], (nlohmann::json{{4.0, 6.0}, {1.0, 2.0}}));
}

}  // namespace
}  // namespace spikeweave
