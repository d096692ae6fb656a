#include "report/several.hpp"

#include <gtest/gtest.h>

#include "report/page_spikes.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using report::json;
using report::named_result;

// Bins of 5 ms from 0 on. `patterns` has the columns of the data of a page.
named_result page_of_patterns(const std::string& name, const spike_sequence& spikes, json patterns,
                              json windows = {{"bin_us", 5000},
                                              {"length", 4},
                                              {"origin_us", 0},
                                              {"bins", 200},
                                              {"segments_us", json::array()}}) {
    patterns["total"] = patterns.at("units").size();
    return {name,
            name,
            {{"run", json::object()},
             {"unit_names", spikes.unit_names()},
             {"spikes", report::page_spikes(spikes)},
             {"windows", std::move(windows)},
             {"patterns", std::move(patterns)}}};
}

const json no_patterns{
    {"units", json::array()}, {"lags_ms", json::array()}, {"count", json::array()}};

// Two units of which the second fires two bins after the first, again and again.
spike_sequence repeated(std::vector<std::string> names, std::int64_t number,
                        std::int64_t period_us = 100'000) {
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::int64_t i = 0; i < number; ++i) {
        times.insert(times.end(), {period_us * i + 1000, period_us * i + 14'000});
        units.insert(units.end(), {unit_id{0}, unit_id{1}});
    }
    return {std::move(times), std::move(units), std::move(names), {0s, 1s}};
}

json compared(std::vector<named_result> pages, bool is_series = false) {
    return json::parse(report::several_patterns_data(std::move(pages), is_series, 0.05, {}));
}

TEST(PatternComparison, MatchesPatternsByUnitsAndLagsAndCountsTheOthers) {
    const json found{{"units", {{0, 1}}}, {"lags_ms", {{0, 10}}}, {"count", {9}},
                     {"p", {0.01}},       {"q", {0.02}},          {"significant", {true}}};
    const json others{{"units", {{0, 1}, {1, 0}}}, {"lags_ms", {{0, 10}, {0, 0}}},
                      {"count", {7, 3}},           {"p", {0.03, 0.04}},
                      {"q", {0.05, 0.06}},         {"significant", {true, true}}};

    // In the third one the same units have other numbers, and nothing was found.
    const json data = compared({page_of_patterns("one", repeated({"x", "y"}, 9), found),
                                page_of_patterns("two", repeated({"x", "y"}, 7), others),
                                page_of_patterns("three", repeated({"x", "y"}, 4), no_patterns)});

    EXPECT_EQ(data.at("unit_names"), (json{"x", "y"}));
    const json& patterns = data.at("patterns");
    EXPECT_EQ(patterns.at("units"), (json{{0, 1}, {0, 1}}));
    EXPECT_EQ(patterns.at("lags_ms"), (json{{0.0, 10.0}, {0.0, 0.0}}));
    EXPECT_EQ(patterns.at("count"), (json{{9, 7, 4}, {0, 3, 0}}));
    EXPECT_EQ(patterns.at("p").at(0), (json{0.01, 0.03, nullptr}));
    EXPECT_EQ(patterns.at("q").at(1), (json{nullptr, 0.06, nullptr}));
    EXPECT_EQ(patterns.at("found"), (json{{true, true, false}, {false, true, false}}));
}

TEST(PatternComparison, CountsUnitsByTheirNames) {
    const json found{{"units", {{0, 1}}}, {"lags_ms", {{0, 10}}}, {"count", {9}}};

    // "a" comes before both names, so all have other numbers; "y" fires after "x" in both.
    const json data = compared({page_of_patterns("one", repeated({"x", "y"}, 9), found),
                                page_of_patterns("two",
                                                 {{1000, 2000, 14'000},
                                                  {unit_id{1}, unit_id{0}, unit_id{2}},
                                                  {"a", "x", "y"},
                                                  {0s, 1s}},
                                                 no_patterns)});

    EXPECT_EQ(data.at("unit_names"), (json{"a", "x", "y"}));
    EXPECT_EQ(data.at("patterns").at("units"), (json{{1, 2}}));
    EXPECT_EQ(data.at("patterns").at("count"), (json{{9, 1}}));
    EXPECT_EQ(data.at("patterns").at("p"), (json{{nullptr, nullptr}}));  // not tested
}

TEST(PatternComparison, CountsInTheBinsOfJoinedEpochs) {
    const json found{{"units", {{0, 1}}}, {"lags_ms", {{0, 10}}}, {"count", {9}}};
    const spike_sequence spikes({1000, 14'000, 503'000, 514'000},
                                {unit_id{0}, unit_id{1}, unit_id{0}, unit_id{1}}, {"x", "y"},
                                {0s, 1s});
    // The second epoch begins at 500 ms and is joined at 33 ms: its spikes are in bins 7 and 9.
    const json windows{{"bin_us", 5000},
                       {"length", 4},
                       {"origin_us", 0},
                       {"bins", 12},
                       {"segments_us", {{0, 0}, {33'000, 500'000}}}};

    const json data = compared({page_of_patterns("one", repeated({"x", "y"}, 9), found),
                                page_of_patterns("two", spikes, no_patterns, windows)});

    EXPECT_EQ(data.at("patterns").at("count"), (json{{9, 2}}));
}

TEST(PatternComparison, SaysWhatChanged) {
    const json found{{"units", {{0, 1}}}, {"lags_ms", {{0, 10}}}, {"count", {60}}};
    const auto many = page_of_patterns("many", repeated({"x", "y"}, 60, 15'000), found);
    const auto few = page_of_patterns("few", repeated({"x", "y"}, 2), no_patterns);

    const json beside = compared({many, few, many}).at("changes");
    const json series = compared({many, few, many}, true).at("changes");

    EXPECT_EQ(beside.at(0).at("change"), (json{"gone"}));
    EXPECT_EQ(beside.at(1).at("change"), (json{""}));
    EXPECT_EQ(series.at(1).at("from"), 1);
    EXPECT_EQ(series.at(1).at("change"), (json{"new"}));
    EXPECT_LT(series.at(1).at("q").at(0), 1e-9);
}

TEST(PatternComparison, RefusesOtherBins) {
    const auto page = page_of_patterns("one", repeated({"x", "y"}, 9), no_patterns);
    named_result other = page;
    other.document["windows"]["bin_us"] = 4000;
    named_result windows = page;
    windows.document["spikes"]["number"] = 0;

    EXPECT_NO_THROW(compared({page, page}));
    EXPECT_THROW(compared({page, other}), invalid_argument);
    EXPECT_THROW(compared({page, windows}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
