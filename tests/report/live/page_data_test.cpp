#include "report/live/page_data.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "io/database.hpp"
#include "report/episodes/several.hpp"
#include "report/episodes/window_series.hpp"
#include "report/run_json.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/rate_change.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/live/recorded_session.hpp"
#include "spikeweave/live/run.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/error_text.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using report::json;

constexpr int seconds_of_session = 60;

episode_mining_options mining_of_session() {
    return {.delays = {{4ms, 6ms}, {8ms, 12ms}}, .min_count = 8, .max_size = 3};
}

// Spikes of five units at 10 Hz as lines of JSON; from 20 to 40 s "n10" follows "n2" 8 times a
// second. One line cannot be read, and one spike comes too late.
std::string lines_of_session() {
    std::mt19937_64 random(7);
    std::vector<std::pair<std::int64_t, int>> spikes;
    std::exponential_distribution<double> at_10_hz(10), at_8_hz(8);
    for (const int unit : {1, 2, 3, 4, 10})
        for (double now = at_10_hz(random); now < seconds_of_session; now += at_10_hz(random))
            spikes.emplace_back(std::llround(1e6 * now), unit);
    for (double now = 20 + at_8_hz(random); now < 40; now += at_8_hz(random))
        for (const auto& [after_us, unit] : {std::pair(0, 2), std::pair(5000, 10)})
            spikes.emplace_back(std::llround(1e6 * now) + after_us, unit);
    std::ranges::sort(spikes);
    std::string lines;
    bool was_lost = false;
    for (const auto& [time_us, unit] : spikes) {
        if (time_us > 50'000'000 && !was_lost) {
            lines += "this is not JSON\n{\"t_us\":49000000,\"unit\":\"n1\"}\n";
            was_lost = true;
        }
        lines += fmt::format("{{\"t_us\":{},\"unit\":\"n{}\"}}\n", time_us, unit);
    }
    return lines + "{\"watermark_us\":60000000}\n";
}

// Windows of 8 s that begin every 4 s.
std::filesystem::path recorded(const temporary_folder& place) {
    live_options options;
    options.armed = {{{"n2", "n10"}, {{4ms, 6ms}}}};
    options.triggers.hold_off = 400ms;
    options.window = {8s, 4s, mining_of_session()};
    options.record = place.path() / "s.session";
    options.threads = 1;
    run_live(place.file("s.jsonl", lines_of_session()).string(), options, {});
    return options.record;
}

json page_of_session(const std::filesystem::path& path) {
    return json::parse(report::session_page(path, 0.05, {}).data);
}

episode episode_in(const json& page, std::size_t row) {
    episode what;
    for (const json& unit : page.at("episodes").at("units").at(row))
        what.units.push_back(unit_id{unit.get<std::uint32_t>()});
    for (const json& ends : page.at("episodes").at("delays_ms").at(row))
        what.delays.push_back({duration{std::llround(1000 * ends.at(0).get<double>())},
                               duration{std::llround(1000 * ends.at(1).get<double>())}});
    return what;
}

void change_session(const std::filesystem::path& path, const std::string& sql) {
    io::open_database(path, io::database::access::write)->run(sql);
}

TEST(RecordedSession, HasTheSpikesThatWereAnalysed) {
    const temporary_folder place;
    const auto path = recorded(place);

    const recorded_session session(path);

    const session_content& content = session.content();
    ASSERT_EQ(content.epochs.size(), 1U);
    const spike_sequence expected = read_spikes(path).spikes;
    EXPECT_EQ(content.epochs[0].unit_names(),
              (std::vector<std::string>{"n1", "n2", "n3", "n4", "n10"}));
    EXPECT_TRUE(std::ranges::equal(content.epochs[0].times_us(), expected.times_us()));
    EXPECT_TRUE(std::ranges::equal(content.epochs[0].units(), expected.units()));
    EXPECT_TRUE(content.has_ended);
}

TEST(RecordedSession, SaysWhatWasLostAndWhen) {
    const temporary_folder place;

    const recorded_session session(recorded(place));

    const auto& losses = session.content().losses;
    ASSERT_FALSE(losses.empty());
    std::uint64_t unreadable = 0, late = 0;
    for (const session_loss& one : losses) {
        unreadable += one.unreadable;
        late += one.late;
        EXPECT_LE(one.begin_us, one.end_us);
        EXPECT_GT(one.end_us, 50'000'000);
    }
    EXPECT_EQ(unreadable, 1U);
    EXPECT_EQ(late, 1U);
}

TEST(RecordedSession, GivesEveryWindowOrSomeOfThem) {
    const temporary_folder place;
    const auto path = recorded(place);
    const auto numbers_of = [&](std::size_t every) {
        std::vector<std::int64_t> numbers;
        recorded_session(path).each_window(
            [&](session_window&& window) { numbers.push_back(window.mined.bounds.number); }, every);
        return numbers;
    };

    const auto all = numbers_of(1);
    EXPECT_EQ(all.size(), recorded_session(path).window_count());
    EXPECT_EQ(all.size(), 14U);
    EXPECT_EQ(numbers_of(5), (std::vector<std::int64_t>{all[0], all[5], all[10]}));
}

// Each window is as `episodes` finds it in the spikes of the window.
TEST(SessionPage, ShowsWhatEpisodesFindsInEachWindow) {
    const temporary_folder place;
    const auto path = recorded(place);

    const json page = page_of_session(path);

    const spike_sequence spikes = read_spikes(path).spikes;
    std::set<std::string> kinds;
    for (const json& window : page.at("windows")) {
        const window_bounds bounds{window.at("number"),
                                   duration{window.at("begin_us").get<std::int64_t>()},
                                   duration{window.at("end_us").get<std::int64_t>()}};
        const auto found = find_episodes(report::spikes_of_window(spikes, bounds),
                                         {.mining = mining_of_session()});
        EXPECT_EQ(window.at("edges"), found.circuit.edges.size());
        EXPECT_EQ(window.at("threshold"), 8);
        std::map<episode, std::size_t> at;
        for (std::size_t i = 0; i < found.table.episodes.size(); ++i)
            at[found.table.episodes[i].what] = i;
        std::map<std::size_t, json> said;
        for (const json& one : window.at("found")) said[one.at(0).get<std::size_t>()] = one;
        for (std::size_t row = 0; row < window.at("counts").size(); ++row) {
            const episode what = episode_in(page, row);
            const auto listed = at.find(what);
            const std::uint64_t count = window.at("counts").at(row);
            if (what.size() == 2) {
                const auto edge =
                    std::ranges::find_if(found.circuit.edges, [&](const circuit_edge& one) {
                        return one.from == what.units[0] && one.to == what.units[1] &&
                               report::is_same_peak(one.delay, what.delays[0]);
                    });
                ASSERT_EQ(said.contains(row), edge != found.circuit.edges.end());
                if (!said.contains(row)) continue;
                EXPECT_EQ(said[row],
                          (json{row, edge->q, true, to_string(edge->kind), to_string(edge->sign)}));
                kinds.insert(said[row].at(3).get<std::string>());
                continue;
            }
            if (listed == at.end()) {
                EXPECT_LT(count, 8U);
                EXPECT_FALSE(said.contains(row));
                continue;
            }
            EXPECT_EQ(count, found.table.episodes[listed->second].count);
            const double q = found.assessed[listed->second].q;
            EXPECT_EQ(said.contains(row), q < 1);
            if (q == 1) continue;
            EXPECT_DOUBLE_EQ(said[row].at(1).get<double>(), q);
            EXPECT_EQ(said[row].at(2).get<bool>(), q < 0.01);
            EXPECT_TRUE(said[row].at(3).is_null());
        }
    }
    EXPECT_TRUE(kinds.contains("direct"));
}

TEST(SessionPage, ComparesWithTheLastWindowThatSharesNoSpike) {
    const temporary_folder place;

    const json page = page_of_session(recorded(place));

    const json& windows = page.at("windows");
    ASSERT_EQ(windows.size(), 14U);
    std::size_t with_gap = 0;
    for (std::size_t k = 0; k < windows.size(); ++k) {
        const bool has_gap = windows[k].at("has_gap");
        with_gap += has_gap ? 1 : 0;
        if (has_gap || k < 2)
            EXPECT_TRUE(windows[k].at("since").is_null()) << k;
        else
            EXPECT_EQ(windows[k].at("since"), k - 2);
    }
    EXPECT_GT(with_gap, 0U);
}

TEST(SessionPage, CorrectsForAllComparisonsOfTheSession) {
    const temporary_folder place;

    const json page = page_of_session(recorded(place));

    const json& windows = page.at("windows");
    std::vector<double> p;
    for (const json& window : windows)
        if (!window.at("since").is_null()) {
            const json& before = windows.at(window.at("since").get<std::size_t>());
            for (std::size_t row = 0; row < window.at("counts").size(); ++row)
                p.push_back(rate_change_p_value({before.at("counts").at(row), 8},
                                                {window.at("counts").at(row), 8}));
        }
    EXPECT_EQ(page.at("comparisons"), p.size());
    const auto q = adjust_p_values(p, p.size(), correction_method::benjamini_hochberg);
    std::set<std::string> words;
    std::size_t at = 0;
    for (const json& window : windows) {
        if (window.at("since").is_null()) continue;
        std::map<std::size_t, json> said;
        for (const json& one : window.at("changes")) said[one.at(0).get<std::size_t>()] = one;
        for (std::size_t row = 0; row < window.at("counts").size(); ++row, ++at) {
            if (!said.contains(row)) continue;
            EXPECT_LE(q[at], 0.05);
            EXPECT_EQ(said[row].at(1).get<double>(), p[at]);
            EXPECT_EQ(said[row].at(2).get<double>(), q[at]);
            words.insert(said[row].at(3).get<std::string>());
        }
    }
    EXPECT_TRUE(words.contains("new"));
    EXPECT_TRUE(words.contains("gone"));
}

TEST(SessionPage, HasDetectionsAndWhyTheyWereNoTriggers) {
    const temporary_folder place;

    const json page = page_of_session(recorded(place));

    const json& detections = page.at("detections");
    const auto times = find_occurrences(read_spikes(place.path() / "s.session").spikes,
                                        {{unit_id{1}, unit_id{4}}, {{4ms, 6ms}}});
    EXPECT_EQ(detections.at("times_us").get<std::vector<std::vector<std::int64_t>>>(), times);
    std::set<std::string> reasons;
    for (const json& one : detections.at("suppressed")) reasons.insert(one.get<std::string>());
    EXPECT_EQ(reasons, (std::set<std::string>{"", "hold-off"}));
    EXPECT_EQ(page.at("armed").at(0).at("units"), (std::vector<std::string>{"n2", "n10"}));
}

TEST(SessionPage, SaysThatASessionHasNotEnded) {
    const temporary_folder place;
    const auto path = recorded(place);
    EXPECT_TRUE(page_of_session(path).at("has_ended").get<bool>());

    change_session(path, "DELETE FROM meta WHERE name = 'counts'");

    EXPECT_FALSE(page_of_session(path).at("has_ended").get<bool>());
}

TEST(SessionPage, RefusesDamage) {
    const std::vector<std::pair<std::string, std::string>> damages{
        {"UPDATE window SET episodes = '[[1,' WHERE seq = 2", "table window, row 2"},
        {"UPDATE window SET episodes = '[[1,[\"nobody\"]]]' WHERE seq = 3", "nobody"},
        {"UPDATE window SET episodes = '[[9,[\"n1\",[5,5],\"n2\"]]]' WHERE seq = 1", "delay"},
        {"UPDATE window SET end_us = begin_us WHERE seq = 1", "interval"},
        {"UPDATE window SET epoch = 7 WHERE seq = 1", "epoch"},
        {"UPDATE detection SET armed = 9 WHERE seq = 4", "table detection, row 4"},
        {"UPDATE detection SET times = zeroblob(24) WHERE seq = 1", "table detection, row 1"},
        {"UPDATE input SET watermark_us = 9000000000000000000 WHERE seq = 1",
         "table input, row 1: found the time"},
        {"UPDATE input SET watermark_us = 4500000000000000000 WHERE seq = 1",
         "table input, row 1: found the time"},
        {"UPDATE input SET watermark_us = 1000000000000000000 WHERE seq = 1", "142 years"},
        {"DELETE FROM window WHERE seq = 2", "expected 2"}};
    for (const auto& [sql, words] : damages) {
        const temporary_folder place;
        const auto path = recorded(place);
        change_session(path, sql);
        const auto page = place.path() / "s.html";
        const std::vector<std::filesystem::path> shown{path};
        const std::string error = text_of([&] { write_page(page, shown); });
        EXPECT_NE(error.find(words), std::string::npos) << sql << ": " << error;
        EXPECT_FALSE(std::filesystem::exists(page));
    }
}

TEST(SessionPage, HasTheNewestSpikesIfThereAreTooMany) {
    const temporary_folder place;
    const auto path = recorded(place);
    const json whole = page_of_session(path);
    const auto number_of = [](const json& page, const char* name) {
        std::size_t sum = 0;
        for (const json& epoch : page.at("epochs")) sum += epoch.at(name).get<std::size_t>();
        return sum;
    };
    const std::size_t spikes = number_of(whole, "number");
    EXPECT_EQ(number_of(whole, "left_out"), 0U);
    EXPECT_TRUE(report::session_page(path, 0.05, {}, spikes).warnings.empty());

    const report::page_content made = report::session_page(path, 0.05, {}, 7);
    const json page = json::parse(made.data);

    EXPECT_EQ(number_of(page, "number"), 7U);
    EXPECT_EQ(number_of(page, "left_out"), spikes - 7);
    ASSERT_EQ(made.warnings.size(), 1U);
    EXPECT_NE(made.warnings[0].find("the newest 7"), std::string::npos) << made.warnings[0];
    EXPECT_EQ(page.at("windows"), whole.at("windows"));
    EXPECT_EQ(page.at("detections"), whole.at("detections"));
    std::vector<std::int64_t> shown, all;
    for (std::size_t i = 0; i < page.at("epochs").size(); ++i) {
        json one{{"unit_names", page.at("unit_names")}, {"spikes", page.at("epochs").at(i)}};
        const spike_sequence newest = report::read_page_spikes(one);
        shown.insert(shown.end(), newest.times_us().begin(), newest.times_us().end());
        one["spikes"] = whole.at("epochs").at(i);
        const spike_sequence epoch = report::read_page_spikes(one);
        all.insert(all.end(), epoch.times_us().begin(), epoch.times_us().end());
    }
    EXPECT_TRUE(std::equal(shown.begin(), shown.end(), all.end() - 7, all.end()));
}

TEST(WindowsOfAPage, AreAtMostAThousand) {
    EXPECT_EQ(report::windows_left_out_for_a_page(0), 1U);
    EXPECT_EQ(report::windows_left_out_for_a_page(1000), 1U);
    EXPECT_EQ(report::windows_left_out_for_a_page(1001), 2U);
    EXPECT_EQ(report::windows_left_out_for_a_page(3600), 4U);
}

}  // namespace
}  // namespace spikeweave
