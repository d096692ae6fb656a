#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "report/episodes/window_tables.hpp"
#include "report/run_json.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/episodes/windows.hpp"
#include "support/error_text.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// "µ c" follows "a b" 5 ms later, ten times in the first window and forty times in the second.
windowed_episode_report report_of_windows() {
    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    for (std::int64_t i = 0; i < 50; ++i) {
        const std::int64_t at = i < 10 ? 1'000'000 * i : 10'000'000 + 250'000 * (i - 10);
        times_us.insert(times_us.end(), {at, at + 5000});
        units.insert(units.end(), {unit_id{0}, unit_id{1}});
    }
    spike_sequence spikes(std::move(times_us), std::move(units), {"a b", "µ c"}, {0s, 20s});
    windowed_episode_options options{.window = 10s};
    options.search.mining.delays = {{4ms, 6ms}};
    options.search.mining.min_count = 5;
    auto result = find_episodes_in_windows(spikes, options);
    return report_of(std::move(spikes), std::move(result));
}

TEST(WindowTables, SayWhatEachWindowHas) {
    const windowed_episode_report report = report_of_windows();

    EXPECT_EQ(report::tsv_of(report::windows_table(report), report.spikes.unit_names()),
              "window\tbegin_s\tend_s\tspikes\tthreshold\tepisodes\tsignificant\tedges\tchains"
              "\tsince\tcommon\tjaccard\tjaccard_expected\tstability\tstability_p\n"
              "0\t0.000000\t10.000000\t20\t5\t3\t1\t1\t0\t-\t-\t-\t-\t-\t-\n"
              "1\t10.000000\t20.000000\t80\t5\t3\t1\t1\t0\t0\t1\t1\t1\t-\t1\n");
    std::string episodes;
    report::write_window_episodes(report, [&](std::string_view piece) { episodes += piece; }, {});
    EXPECT_TRUE(
        episodes.starts_with("epoch\twindow\tbegin_s\tend_s\thas_gap\tsize\tepisode\tcount"
                             "\texpected\tp\tq\tstrength\tsignificant\tchain\n"
                             "0\t0\t0.000000\t10.000000\tno\t1\t\"a b\"\t10\t10\t1\t1\t0"
                             "\tno\tno\n"))
        << episodes;
    EXPECT_NE(episodes.find("\t2\t\"a b\" 4-6ms \"µ c\"\t40\t"), std::string::npos) << episodes;
    const std::string circuits =
        report::tsv_of(report::window_circuits_table(report), report.spikes.unit_names());
    EXPECT_TRUE(circuits.starts_with("window\tfrom\tto\tsign\tdelay\tbest_delay\t")) << circuits;
    EXPECT_NE(circuits.find("\n1\ta b\tµ c\texcitatory\t("), std::string::npos) << circuits;
    EXPECT_NE(circuits.find(" ms\t(4,6] ms\t40\t"), std::string::npos) << circuits;
}

// The page of a document.
report::json page_of_windows(const report::json& document) {
    return report::json::parse(report::window_page_text(document, 0.05, {}));
}

TEST(WindowPage, IsMadeOfTheDocument) {
    const temporary_folder place;
    const windowed_episode_report report = report_of_windows();
    const auto folder = place.path() / "out";
    write_report(folder, report);

    const auto page = page_of_windows(report::read_document(folder));

    EXPECT_EQ(page.at("kind"), "windows");
    EXPECT_EQ(page.at("run").at("summary"),
              "1 connection among 2 units in each of 2 windows, no chain.");
    EXPECT_EQ(page.at("run").at("summary"), verdict_of(report));
    const auto& windows = page.at("windows");
    ASSERT_EQ(windows.size(), 2U);
    EXPECT_EQ(windows[0].at("counts"), report::json({10}));
    EXPECT_EQ(windows[1].at("counts"), report::json({40}));
    EXPECT_EQ(windows[1].at("since"), 0);
    EXPECT_EQ(windows[1].at("changes").at(0).at(3), "stronger");
    EXPECT_EQ(page.at("comparisons"), 1);
    const auto shown = report::json::parse(
        report::window_page_text(report.result.windows, report.spikes, page.at("run"), 0.05, {}));
    EXPECT_EQ(shown, page);
    EXPECT_TRUE(std::filesystem::exists(folder / "report.html"));
}

// As if the rates were those of inhibition, whose q is that of the edge.
TEST(WindowPage, ShowsTheSignOfEdges) {
    const windowed_episode_report report = report_of_windows();
    auto document = report::json::parse(document_of(report));
    const auto excited = page_of_windows(document).at("windows");
    EXPECT_EQ(excited[0].at("found").at(0).at(4), "excitatory");

    for (auto& sign : document.at("window_circuits").at("sign")) sign = "inhibitory";
    const auto inhibited = page_of_windows(document).at("windows");

    const auto& edges = report.result.windows[0].circuit.edges;
    ASSERT_EQ(edges.size(), 1U);
    const auto& found = inhibited[0].at("found").at(0);
    EXPECT_NEAR(found.at(1).get<double>(), edges[0].q, 1e-5 * edges[0].q);
    EXPECT_EQ(found.at(2), true);
    EXPECT_EQ(found.at(3), "direct");
    EXPECT_EQ(found.at(4), "inhibitory");
    EXPECT_EQ(excited[1].at("changes").at(0).at(3), "stronger");
    EXPECT_EQ(inhibited[1].at("changes").at(0).at(3), "weaker");
}

TEST(WindowPage, RefusesDamagedDocuments) {
    const auto whole = report::json::parse(document_of(report_of_windows()));
    const auto error_with = [&](const char* table, const char* name, std::size_t row,
                                report::json value) {
        auto document = whole;
        document.at(table).at(name).at(row) = std::move(value);
        return text_of([&] { page_of_windows(document); });
    };
    const auto says = [](const std::string& error, const std::string& words) {
        EXPECT_NE(error.find(words), std::string::npos) << error;
    };

    says(error_with("windows", "window", 1, 0), "twice");
    says(error_with("windows", "begin_s", 1, 20), "without length");
    says(error_with("windows", "spikes", 1, "many"), "number");
    says(error_with("window_episodes", "delays_ms", 2, report::json::array()), "each step");
    says(error_with("window_episodes", "units", 2, {0, 7}), "no unit 7");
    says(error_with("window_episodes", "window", 2, 7), "no window 7");
    says(error_with("window_circuits", "kind", 0, "odd"), "odd");
    says(error_with("window_circuits", "sign", 0, "odd"), "odd");
    says(error_with("window_circuits", "delay_ms", 0, report::json::array()), "range");
}

TEST(WindowChanges, HaveATableAndSentences) {
    windowed_episode_report report = report_of_windows();
    const episode pair{{unit_id{0}, unit_id{1}}, {{4ms, 6ms}}};
    circuit_changes changes;
    for (std::int64_t w = 0; w < 10; ++w) changes.windows.push_back({w * 2s, w * 2s + 2s});
    changes.firing_rates.next = change_point{3, 0.25};
    changes.circuit = {{{5, 0.001}}, change_point{8, 0.5}};
    changes.findings.push_back({pair,
                                {change_point{4, 0.125}, 2, 3, 0.125},
                                {change_point{5, 0.001}, 0.25, std::nan(""), 0.001},
                                change_kind::excess});
    report.result.changes = changes;

    EXPECT_EQ(report::tsv_of(report::change_points_table(report), report.spikes.unit_names()),
              "of\tsize\tunits\tdelays\ttime_s\tbefore\tafter\tp\tq\tsignificant\n"
              "firing-rates\t-\t-\t-\t6.000000\t-\t-\t0.25\t-\tno\n"
              "circuit\t-\t-\t-\t10.000000\t-\t-\t0.001\t-\tyes\n"
              "circuit\t-\t-\t-\t16.000000\t-\t-\t0.5\t-\tno\n"
              "rate\t2\ta b→µ c\t(4,6] ms\t8.000000\t2\t3\t0.125\t0.125\tno\n"
              "excess\t2\ta b→µ c\t(4,6] ms\t10.000000\t0.25\t-\t0.001\t0.001\tyes\n");
    const std::string text = summarize(report);
    EXPECT_TRUE(
        text.starts_with("1 connection among 2 units in each of 2 windows, no chain; "
                         "the circuit changes at 1 time, firing rates at 0 times."))
        << text;
    EXPECT_NE(text.find("firing rates: no significant change (p 0.25)\n"
                        "circuit: changed at 10.000 s (p 0.001)\n"
                        "1 of 1 edges and chains change beyond the firing rates\n"),
              std::string::npos)
        << text;
    const temporary_folder place;
    write_report(place.path() / "out", report);
    EXPECT_EQ(read_bytes(place.path() / "out" / "change_points.tsv"),
              report::tsv_of(report::change_points_table(report), report.spikes.unit_names()));
    const auto page = page_of_windows(report::read_document(place.path() / "out"));
    const auto& told = page.at("run").at("search").at("change_points");
    EXPECT_EQ(told.at("circuit").at("found").at(0).at("time_s"), 10);
    EXPECT_EQ(told.at("findings_with_other_excess"), 1);
}

}  // namespace
}  // namespace spikeweave
