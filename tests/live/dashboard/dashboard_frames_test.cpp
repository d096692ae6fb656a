#include "live/dashboard/dashboard_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "live/dashboard/session_news.hpp"

namespace spikeweave::live {
namespace {

using nlohmann::json;

struct decoded_frame {
    json text{};
    std::string density{};

    // How often a unit fired in a column.
    int at(std::int64_t column, std::size_t unit) const {
        const auto place = static_cast<std::size_t>(column - text["first_column"].get<int>());
        return static_cast<unsigned char>(
            density.at(place * text["units"].get<std::size_t>() + unit));
    }
};

decoded_frame decoded(const std::string& frame) {
    EXPECT_EQ(frame.substr(0, 4), "SWD1");
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
        size += std::size_t{static_cast<unsigned char>(frame.at(4 + i))} << (8 * i);
    decoded_frame made{json::parse(frame.substr(8, size)), frame.substr(8 + size)};
    EXPECT_EQ(made.density.size(),
              made.text["columns"].get<std::size_t>() * made.text["units"].get<std::size_t>());
    return made;
}

// A session of three units whose news make frames.
struct watched_session {
    session_watcher watcher{1};
    dashboard_frames frames{{{false, {unit_id{0}, unit_id{1}}}}};
    monitored_state state{};
    const std::vector<std::string> names{"a", "b<\xff", "c"};

    watched_session() { watcher.take(units_added{names}); }
    decoded_frame next() {
        return decoded(frames.next(watcher.take_news(), watcher.window(), state));
    }
    void spikes(const std::vector<std::pair<std::int64_t, std::uint32_t>>& all) {
        std::vector<spike_event> events;
        for (const auto& [time, unit] : all) events.push_back({time, unit_id{unit}});
        watcher.take(spikes_accepted{events});
        watcher.take(block_ended{{}});
    }
};

TEST(DashboardFrames, HaveEachSpikeInOneColumnOfOneFrame) {
    watched_session run;
    run.spikes({{1'000, 0}, {9'999, 0}, {10'000, 1}, {25'000, 2}});
    decoded_frame frame = run.next();
    EXPECT_EQ(frame.text["frame"], 0);
    EXPECT_EQ(frame.text["first_column"], 0);
    EXPECT_EQ(frame.text["columns"], 2);  // more spikes may come in the third
    EXPECT_EQ(frame.at(0, 0), 2);
    EXPECT_EQ(frame.at(0, 1), 0);
    EXPECT_EQ(frame.at(1, 1), 1);

    run.spikes({{26'000, 2}, {51'000, 0}});
    frame = run.next();
    EXPECT_EQ(frame.text["frame"], 1);
    EXPECT_EQ(frame.text["first_column"], 2);
    EXPECT_EQ(frame.text["columns"], 3);
    EXPECT_EQ(frame.at(2, 2), 2);
    EXPECT_EQ(std::ranges::count(frame.density, '\0'), 8);

    run.watcher.take(session_ended{{}});
    frame = run.next();
    EXPECT_EQ(frame.text["first_column"], 5);
    EXPECT_EQ(frame.at(5, 0), 1);
    EXPECT_TRUE(frame.text["has_ended"].get<bool>());
}

TEST(DashboardFrames, AnOpeningHasTheLastMinute) {
    watched_session run;
    const auto opening = [&run] { return decoded(run.frames.opening()); };
    run.next();
    EXPECT_EQ(opening().text["columns"], 0);

    run.spikes({{1'000, 0}, {2'000, 0}, {10'000, 1}, {25'000, 2}});
    run.watcher.take(counts_in_window{{duration{0}, duration{10}}, std::vector<std::uint64_t>{6}});
    run.watcher.take(block_ended{{}});
    run.next();
    run.watcher.take(units_added{std::vector<std::string>{"late"}});
    run.spikes({{61'000, 3}, {71'000, 0}});
    const decoded_frame last = run.next();
    const decoded_frame all = opening();
    EXPECT_EQ(all.text["frame"], last.text["frame"]);
    EXPECT_EQ(all.text["first_column"], 0);
    EXPECT_EQ(all.text["columns"], 7);
    EXPECT_EQ(all.at(0, 0), 2);
    EXPECT_EQ(all.at(1, 1), 1);
    EXPECT_EQ(all.at(2, 2), 1);
    EXPECT_EQ(all.at(6, 3), 1);
    EXPECT_EQ(std::ranges::count(all.density, '\0'), 24);
    EXPECT_EQ(all.text["counted"], json::parse(R"([{"t_us":[0,10],"counts":[6]}])"));
    EXPECT_EQ(last.text["counted"], json::array());

    // Frames of 5 s are sent, and a minute is kept.
    for (std::int64_t time = 1; time <= 70; ++time) {
        run.spikes({{time * 1'000'000, 1}});
        run.next();
    }
    EXPECT_EQ(opening().text["first_column"], 1'000);
    EXPECT_EQ(opening().text["columns"], 6'000);
    EXPECT_EQ(opening().at(6'900, 1), 1);

    run.watcher.take(epoch_ended{});
    run.spikes({{5'000, 1}, {15'000, 2}});
    run.next();
    EXPECT_EQ(opening().text["columns"], 1);
    EXPECT_EQ(opening().text["counted"], json::array());
}

TEST(DashboardFrames, GoOnInSilence) {
    watched_session run;
    run.spikes({{1'000, 0}});
    run.state.watermark_us = 39'000;
    EXPECT_EQ(run.next().text["columns"], 3);
    run.state.watermark_us = 60'000;
    const decoded_frame frame = run.next();
    EXPECT_EQ(frame.text["first_column"], 3);
    EXPECT_EQ(frame.text["columns"], 3);
}

TEST(DashboardFrames, BeginAgainWithAnEpoch) {
    watched_session run;
    run.spikes({{1'000'000, 0}, {2'000'000, 0}});
    run.state.watermark_us = 2'000'000;
    EXPECT_EQ(run.next().text["epoch"], 0);
    run.spikes({{2'000'001, 1}});
    run.watcher.take(epoch_ended{});
    run.spikes({{5'000, 1}, {15'000, 2}});
    const decoded_frame frame = run.next();
    EXPECT_EQ(frame.text["epoch"], 1);
    EXPECT_EQ(frame.text["first_column"], 0);
    EXPECT_EQ(frame.text["columns"], 1);
    EXPECT_EQ(frame.at(0, 1), 1);
}

TEST(DashboardFrames, AreBoundedHoweverMuchComes) {
    watched_session run;
    std::vector<std::pair<std::int64_t, std::uint32_t>> all;
    for (std::int64_t i = 0; i < 400'000; ++i) all.emplace_back(i * 1'000, 0);
    run.spikes(all);
    for (std::int64_t i = 0; i < 1000; ++i) {
        const std::int64_t times[]{i, i + 1};
        run.watcher.take(detection{.begin_us = i, .end_us = i + 1, .times_us = times});
    }
    run.watcher.take(block_ended{{}});
    const decoded_frame frame = run.next();
    EXPECT_EQ(frame.text["columns"], 500);
    EXPECT_EQ(frame.text["first_column"], 39'999 - 500);
    EXPECT_EQ(frame.at(39'998, 0), 10);
    EXPECT_EQ(frame.text["detections"].size(), 100U);
    EXPECT_EQ(frame.text["detections"].back(), json::parse(R"([999,0,999,1000,"",[999,1000]])"));
}

TEST(DashboardFrames, HaveCountsAndLosses) {
    watched_session run;
    session_counts counts{.order = {7, 2, 1}, .missing = 3, .detections = 5, .skipped = 4};
    counts.suppressed.rate = 2;
    run.watcher.take(block_ended{counts});
    run.watcher.take(counts_in_window{{duration{0}, duration{10}}, std::vector<std::uint64_t>{6}});
    run.watcher.take(block_ended{counts});
    run.state.latency.add(1e-5);
    run.state.latency.add(100);
    run.state.of(stage::trigger).add(0.25, 3);
    run.state.sampling = {.behind_s = 1,
                          .most_behind_s = 2,
                          .left_out = 3,
                          .motion_um = {{155, -2.5}},
                          .warnings = {"w"}};
    const decoded_frame frame = run.next();
    EXPECT_EQ(frame.text["stages"], json::parse(R"([["trigger",3,0.25,0.25,0.25]])"));
    EXPECT_EQ(frame.text["samples"],
              json::parse(R"({"behind_s":1.0,"most_behind_s":2.0,"left_out":3,
                              "motion_um":[[155.0,-2.5]],"warnings":["w"]})"));
    EXPECT_EQ(frame.text["counts"], json::parse(R"({"spikes":7,"late":2,"duplicates":1,"missing":3,
        "belated":0,"unreadable":0,"epochs":0,"detections":5,"triggers":3,"windows":0,
        "incomplete":0,"skipped":4})"));
    EXPECT_EQ(frame.text["counted"], json::parse(R"([{"t_us":[0,10],"counts":[6]}])"));
    EXPECT_EQ(frame.text["latency"].size(), latency_histogram::bounds_s.size() + 1);
    EXPECT_EQ(frame.text["latency"].front(), 1);
    EXPECT_EQ(frame.text["latency"].back(), 1);
    const decoded_frame after = run.next();
    EXPECT_EQ(after.text["counts"], frame.text["counts"]);
    EXPECT_TRUE(after.text["counted"].empty());

    const std::vector<std::uint64_t> many(4'000, 1);
    for (int i = 0; i < 9; ++i)
        run.watcher.take(counts_in_window{{duration{i}, duration{i + 10}}, many});
    run.watcher.take(block_ended{counts});
    const json newest = run.next().text["counted"];
    EXPECT_EQ(newest.size(), 3U);
    EXPECT_EQ(newest.back()["t_us"], json::parse("[8,18]"));
}

TEST(DashboardFrames, HaveTheTriggersOfWhatIsArmed) {
    watched_session run;
    EXPECT_EQ(run.next().text["tallies"], json::parse("[]"));  // no block has ended yet
    const std::vector<std::int64_t> times{1, 2};
    run.watcher.take(detection{.times_us = times});
    run.watcher.take(detection{.times_us = times, .suppressed = suppression::hold_off});
    run.watcher.take(arming_change{.armed = {{1, {{unit_id{2}, unit_id{0}}, {}}, 0.5}}});
    run.watcher.take(block_ended{{}});
    EXPECT_EQ(run.next().text["tallies"], json::parse("[[2,1,null],[0,0,0.5]]"));
    run.watcher.take(chance_rates{.per_minute = {0.25}});
    run.watcher.take(block_ended{{}});
    EXPECT_EQ(run.next().text["tallies"], json::parse("[[2,1,0.25],[0,0,0.5]]"));
}

TEST(DashboardFrames, HaveTheLastWindow) {
    watched_session run;
    EXPECT_TRUE(run.next().text["window"].is_null());
    const delay_interval delay{duration{0}, duration{250'000}};
    mined_window window{.mined = {{3, duration{0}, duration{1'000'000}}, 12, {}}, .epoch = 1};
    window.mined.table.threshold = 2;
    // By chance a pair occurs once, two spikes a unit in a second and a quarter of it as delay.
    window.mined.table.episodes = {{{{unit_id{0}}, {}}, 2},
                                   {{{unit_id{1}}, {}}, 2},
                                   {{{unit_id{2}}, {}}, 2},
                                   {{{unit_id{0}, unit_id{1}}, {delay}}, 3},
                                   {{{unit_id{2}, unit_id{0}}, {delay}}, 4},
                                   {{{unit_id{1}, unit_id{2}}, {delay}}, 8}};
    run.watcher.take(window);
    EXPECT_EQ(run.next().text["window"], json::parse(R"({"window":3,"epoch":1,"t_us":[0,1000000],
        "spikes":12,"threshold":2,"is_skipped":false,"has_gap":false,"complete_to_size":null,
        "by_size":[3,3],"pairs":[[1,2,0,250000,8,1.0,true],[2,0,0,250000,4,1.0,false],
        [0,1,0,250000,3,1.0,false]]})"));
}

TEST(DashboardFrames, AreDescribedWithNamesThatAreText) {
    watched_session run;
    run.watcher.take(arming_change{.armed = {{1, {{unit_id{2}, unit_id{0}}, {}}, 0.1}}});
    run.watcher.take(block_ended{{}});
    EXPECT_EQ(run.next().text["armed"], 2);
    const json description = json::parse(run.frames.description());
    EXPECT_EQ(description["version"], 1);
    EXPECT_EQ(description["units"], json::parse("[\"a\",\"b<\\ufffd\",\"c\"]"));
    EXPECT_EQ(description["armed"], json::parse(R"([{"is_pattern":false,"units":[0,1]},
                                                    {"is_pattern":false,"units":[2,0]}])"));
    EXPECT_EQ(description["latency_bounds_s"].size(), latency_histogram::bounds_s.size());
}

}  // namespace
}  // namespace spikeweave::live
