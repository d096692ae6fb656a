#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "report/episodes/small_report.hpp"
#include "report/episodes/view.hpp"
#include "report/text.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "support/count_of.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
// A table as its file has it.
template <class Table>
std::string text_of_table(const episode_report& report, Table table) {
    const report::episode_view view(report);
    return report::tsv_of(table(view), report.spikes.unit_names());
}
std::string episodes_tsv(const episode_report& report) {
    return text_of_table(report, [](const auto& view) { return report::episodes_table(view); });
}
std::string circuit_tsv(const episode_report& report) {
    return text_of_table(report, report::circuit_table);
}
std::string pairs_tsv(const episode_report& report) {
    return text_of_table(report, report::pairs_table);
}

TEST(EpisodeReport, ListsEpisodesLongestFirst) {
    const episode_report report = small_episode_report();

    EXPECT_EQ(
        episodes_tsv(report),
        "episode\tsize\tunits\tdelays\tcount\texpected\tp\tq\tstrength\tsignificant\tmaximal\n"
        "1\t3\ta→b→<c&\"d\">\t(4,6] (4,6] ms\t2\t1e-05\t0\t0\t1\tyes\tyes\n"
        "2\t2\ta→b\t(4,6] ms\t2\t0.008\t3.2e-05\t0.00039\t1\tyes\tno\n"
        "3\t2\tb→<c&\"d\">\t(4,6] ms\t2\t0.008\t3.2e-05\t0.00039\t0.8125\tyes\tno\n"
        "4\t2\ta→<c&\"d\">\t(8,11.5] ms\t2\t0.014\t9e-05\t0.001\t1\tyes\tyes\n"
        "5\t1\ta\t-\t2\t2\t1\t1\t0\tno\tno\n"
        "6\t1\tb\t-\t2\t2\t1\t1\t0\tno\tno\n"
        "7\t1\t<c&\"d\">\t-\t2\t2\t1\t1\t0\tno\tno\n");
}

TEST(EpisodeReport, ShowsSurrogatesBesideTheModelAndJudgesByThem) {
    episode_report report = small_episode_report();
    report.surrogates.assign(7, {0.5, 0.25, 1, 0.125, 0.5});

    const std::string table = episodes_tsv(report);

    EXPECT_NE(table.find("maximal\tindependent_expected\tindependent_p\tindependent_q\t"
                         "surrogate_mean\tsurrogate_p\tsurrogate_q\tsurrogate_tail_p\t"
                         "surrogate_tail_q\n"),
              std::string::npos);
    // Expected count, p and q are those that decide significance.
    EXPECT_NE(
        table.find("\t2\t0.5\t0.125\t0.5\t1\tno\tyes\t1e-05\t0\t0\t0.5\t0.25\t1\t0.125\t0.5\n"),
        std::string::npos)
        << table;
    EXPECT_EQ(table.find("\tyes\tyes"), std::string::npos);
}

TEST(EpisodeReport, ListsEdgesWithWhatExplainsThem) {
    const episode_report report = small_episode_report();

    EXPECT_EQ(
        circuit_tsv(report),
        "from\tto\tsign\tdelay\tbest_delay\tcount\texpected\tp\tq\tstrength\tgain\tgain_low"
        "\tgain_high\ttransmission\ttransmission_low\ttransmission_high\tkind\tvia\tmean_delay_ms"
        "\tmean_delay_low_ms\tmean_delay_high_ms\tasymmetry\tcut\tsynchronous"
        "\tsynchronous_expected\n"
        "a\tb\texcitatory\t(4,6] ms\t(4,6] ms\t2\t0.008\t3.2e-05\t0.00039\t1\t250\t125\t500"
        "\t0.996\t0.25\t1.5\tdirect\t-\t-\t-\t-\t0\tno\t0\t0\n"
        "a\t<c&\"d\">\texcitatory\t(8,11.5] ms\t(8,11.5] ms\t2\t0.008\t3.2e-05\t0.00039\t1\t250"
        "\t125\t500\t0.996\t0.25\t1.5\tindirect\tb\t9.75\t9.5\t10\t0.5\thigh\t3\t0.25\n"
        "b\t<c&\"d\">\texcitatory\t(1,6] ms\t(4,6] ms\t2\t0.008\t3.2e-05\t0.00039\t0.8125\t250"
        "\t125\t500\t0.75\t0.5\t1.25\tdirect\t-\t-\t-\t-\t0\tno\t0\t0\n");
}

TEST(EpisodeReport, ListsPairsWithWhatTheyAreInTheCircuit) {
    episode_report report = small_episode_report();
    add_inhibition(report);

    EXPECT_EQ(pairs_tsv(report),
              "from\tto\tsign\tdelay\tcount\texpected\tgain\tp\tq\tkind\n"
              "<c&\"d\">\ta\tinhibitory\t(1,3] ms\t2\t16\t0.125\t1e-09\t1e-08\tdirect\n"
              "a\tb\texcitatory\t(4,6] ms\t2\t0.008\t250\t3.2e-05\t0.00039\tdirect\n"
              "b\ta\texcitatory\t(4,6] ms\t2\t1\t2\t0.01\t0.02\t-\n");
    EXPECT_NE(circuit_tsv(report).find("\n<c&\"d\">\ta\tinhibitory\t(1,3] ms\t(1,3] ms\t2\t"),
              std::string::npos);
}

TEST(EpisodeReport, SaysInASentenceWhatWasFoundAndTested) {
    episode_report report = small_episode_report();
    EXPECT_EQ(verdict_of(report),
              "2 connections among 3 units, 1 chain of 3 units; 4 of 4 episodes significant, 1 % "
              "familywise error rate.");

    report.assessed[3].q = 0.5;
    report.significance.correction = correction_method::none;
    report.run.warnings = {"The first.", "The second."};
    EXPECT_EQ(verdict_of(report),
              "2 connections among 3 units, 1 chain of 3 units; 3 of 4 episodes significant, 1 % "
              "level without a correction. 2 warnings.");

    add_inhibition(report);
    report.run.warnings.pop_back();
    EXPECT_EQ(verdict_of(report),
              "3 connections (2 excitatory, 1 inhibitory) among 3 units, 1 chain of 3 units; 5 of "
              "6 pairs of units tested, 1 % false discovery rate. 1 warning.");

    report.pairs->tested = 6;
    report.circuit = {};
    report.run.warnings.clear();
    EXPECT_EQ(
        verdict_of(report),
        "No connection among 3 units; all 6 pairs of units tested, 1 % false discovery rate.");

    report.pairs->tested = report.pairs->possible = 0;
    EXPECT_EQ(verdict_of(report),
              "No connection among 3 units; no pair of units tested, 1 % false discovery rate.");

    // Chains alone were counted, as by `count`.
    report.pairs.reset();
    std::erase_if(report.table.episodes, [](const auto& one) { return one.what.size() == 2; });
    report.assessed.resize(report.table.episodes.size());
    EXPECT_TRUE(verdict_of(report).starts_with("0 of 1 episode significant among 3 units, "));
    report.circuit.chains = {report.table.episodes.size() - 1};
    EXPECT_TRUE(verdict_of(report).starts_with("1 chain of 3 units among 3 units; "));
}

// Of the edge a → b with a delay of up to 6 ms, in which two spikes follow after 5 ms.
TEST(EpisodeReport, WritesTheLagsOfEachEdge) {
    const episode_report report = small_episode_report();

    const report::episode_view view(report);
    const std::vector<edge_correlogram> correlograms = report::correlograms_of(view, {});
    const std::string lags =
        report::tsv_of(report::lags_table(view, correlograms), report.spikes.unit_names());

    EXPECT_EQ(lags.find("from\tto\tlag_above_ms\tlag_up_to_ms\tpairs\na\tb\t-30\t"), 0U);
    EXPECT_EQ(std::ranges::count(lags, '\n'), 1 + 3 * 120);
    EXPECT_NE(lags.find("\na\tb\t-30\t-29.5\t0\n"), std::string::npos);
    EXPECT_NE(lags.find("\na\tb\t4.5\t5\t2\n"), std::string::npos);
    EXPECT_NE(lags.find("\na\tb\t5\t5.5\t0\n"), std::string::npos);
}

TEST(EpisodeReport, WritesGraphMLThatEscapesNames) {
    const episode_report report = small_episode_report();

    const std::string xml = report::circuit_graphml(report::episode_view(report));

    EXPECT_NE(
        xml.find("<node id=\"u2\"><data key=\"node_name\">&lt;c&amp;&quot;d&quot;&gt;</data>"
                 "<data key=\"node_count\">2</data><data key=\"node_rate_hz\">2</data></node>\n"),
        std::string::npos);
    EXPECT_NE(
        xml.find(
            "<edge source=\"u0\" target=\"u2\"><data key=\"sign\">excitatory</data><data "
            "key=\"delay_low_ms\">8</data><data key=\"delay_high_ms\">11.5"
            "</data><data key=\"best_delay_low_ms\">8</data><data key=\"best_delay_high_ms\">11.5"
            "</data><data "
            "key=\"count\">2</data><data key=\"expected\">0.008</data><data "
            "key=\"p\">3.2e-05</data>"
            "<data key=\"q\">0.00039</data><data key=\"strength\">1</data><data "
            "key=\"gain\">250</data>"
            "<data key=\"gain_low\">125</data><data key=\"gain_high\">500</data><data "
            "key=\"transmission\">0.996</data><data key=\"transmission_low\">0.25</data><data "
            "key=\"transmission_high\">1.5</data><data key=\"kind\">indirect"
            "</data><data key=\"via\">b</data><data key=\"mean_delay_ms\">9.75</data>"
            "<data key=\"mean_delay_low_ms\">9.5</data><data key=\"mean_delay_high_ms\">10</data>"
            "<data key=\"asymmetry\">0.5</data><data "
            "key=\"cut\">high</data><data key=\"synchronous\">3</data><data "
            "key=\"synchronous_expected\">0.25</data></edge>\n"),
        std::string::npos);
}

// Every tag is closed in order, which any reader needs.
TEST(EpisodeReport, WritesNothingThatXmlHasNoWayToWrite) {
    EXPECT_EQ(report::xml_escaped("a\x01\xEF\xBF\xBE\xEF\xBF\xBF\xEF\xBF\xBD<"),
              "a???\xEF\xBF\xBD&lt;");
}

TEST(EpisodeReport, SaysInJsonHowItCameAbout) {
    const auto json = nlohmann::json::parse(to_json(small_episode_report()));

    EXPECT_EQ(json["run"]["command"], "spikeweave episodes x.tsv");
    EXPECT_EQ(json["run"]["parameters"]["delays"], "4-6ms");
    EXPECT_EQ(json["run"]["parameters"]["alpha"], 0.01);
    EXPECT_TRUE(json["run"]["parameters"]["max_size"].is_null());
    EXPECT_EQ(json["run"]["input"]["digest"], "00ff");
    EXPECT_EQ(json["run"]["search"]["strategy"], "reference");
    EXPECT_EQ(json["run"]["search"]["levels"][1]["candidates"], 12);
    EXPECT_EQ(json["run"]["seed"], 7);
    EXPECT_FALSE(json["run"].contains("surrogates"));
    EXPECT_EQ(json["units"][2]["name"], "<c&\"d\">");
    EXPECT_EQ(json["episodes"][0]["units"].size(), 3U);
    EXPECT_EQ(json["episodes"][3]["delays_ms"][0][1], 11.5);
    EXPECT_EQ(json["circuit"]["edges"][1]["via"], (nlohmann::json{"b", "a"}));
    EXPECT_EQ(json["circuit"]["edges"][1]["sign"], "excitatory");
    const auto& edge = json["circuit"]["edges"][2];
    EXPECT_EQ(edge["transmission"], 0.75);
    EXPECT_EQ(edge["transmission_low"], 0.5);
    EXPECT_EQ(edge["transmission_high"], 1.25);
    EXPECT_EQ(edge["best_delay_ms"].size(), 2U);
    EXPECT_EQ(json["run"]["summary"], verdict_of(small_episode_report()));
    EXPECT_FALSE(json.contains("pairs"));
    EXPECT_EQ(json["circuit"]["chains"][0], 1);
    EXPECT_EQ(json["episodes"].size(), 7U);
}

TEST(EpisodeReport, HasTheTestsOfPairsInJson) {
    episode_report report = small_episode_report();
    add_inhibition(report);

    const auto json = nlohmann::json::parse(to_json(report));

    ASSERT_EQ(json["pairs"].size(), 3U);
    EXPECT_EQ(json["pairs"][0]["from"], "<c&\"d\">");
    EXPECT_EQ(json["pairs"][0]["sign"], "inhibitory");
    EXPECT_EQ(json["pairs"][0]["delay_ms"], (nlohmann::json{1, 3}));
    EXPECT_EQ(json["pairs"][0]["expected"], 16);
    EXPECT_EQ(json["circuit"]["edges"][3]["gain_low"], 0.0625);
    const auto& told = json["run"]["circuit"]["pairs"];
    EXPECT_EQ(told["tested"], 5);
    EXPECT_EQ(told["possible"], 6);
    EXPECT_EQ(told["untested_units"], nlohmann::json{"b"});
}

TEST(EpisodeReport, SummarizesInAPage) {
    EXPECT_EQ(
        summarize(small_episode_report()),
        "2 connections among 3 units, 1 chain of 3 units; 4 of 4 episodes significant, 1 % "
        "familywise error rate.\n"
        "6 spikes of 3 units in 1 s; at least 2 occurrences; jitter test, holm, alpha 0.01\n"
        "\n"
        "Excitatory connections (2)\n"
        "  edge                        delay    count  expected          q   gain transmission\n"
        "  a → b                       4-6ms        2     0.008   3.9·10⁻⁴    250        0.996\n"
        "  b → <c&\"d\">                 4-6ms        2     0.008   3.9·10⁻⁴    250         0.75\n"
        "  explained by other units: 1 indirect, 0 by common input; 0 undecided for want of "
        "spikes\n"
        "\n"
        "Chains (1)\n"
        "  a →4-6ms→ b →4-6ms→ <c&\"d\">\n"
        "      2 times, 1·10⁻⁵ expected by chance, p < 10⁻³⁰⁰, strength 1.00\n"
        "\n"
        "Search\n"
        "  size   candidates     frequent  significant   seconds\n"
        "     1            3            3            -     0.250\n"
        "     2           12            3            3     0.500\n"
        "     3            1            1            1     0.125\n");
    episode_report signed_one = small_episode_report();
    add_inhibition(signed_one);
    EXPECT_NE(summarize(signed_one).find("\nInhibitory connections (1)\n"), std::string::npos);
    EXPECT_NE(summarize(signed_one).find("  <c&\"d\"> ⊣ a "), std::string::npos);
    EXPECT_NE(summarize(small_episode_report(), true).find("\033[1m"), std::string::npos);
    EXPECT_NE(summarize(episode_report{.spikes = {}}).find("No chain of three units or more"),
              std::string::npos);
}

TEST(EpisodeReport, RefusesPartsThatDoNotBelongTogether) {
    episode_report fewer = small_episode_report();
    fewer.assessed.pop_back();
    episode_report chainless = small_episode_report();
    chainless.circuit.chains = {7};
    episode_report strange = small_episode_report();
    strange.circuit.edges[0].to = unit_id{3};

    for (const episode_report* one : {&fewer, &chainless, &strange}) {
        EXPECT_THROW(to_json(*one), invalid_argument);
        EXPECT_THROW(summarize(*one), invalid_argument);
    }
}

const std::set<std::string> always{"result.json",     "episodes.tsv", "circuit.tsv", "lags.tsv",
                                   "circuit.graphml", "circuit.svg",  "run.json",    "report.html"};

TEST(WriteEpisodeReport, WritesAWholeFolderAndNothingBesideIt) {
    const temporary_folder place;
    episode_report report = small_episode_report();

    write_report(place.path() / "plain/", report);
    report.with_occurrences = true;
    report.with_page = false;
    add_inhibition(report);
    write_report(place.path() / "more", report);

    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{"plain", "more"}));
    EXPECT_FALSE(names_in(place.path() / "more").contains("report.html"));
    EXPECT_EQ(names_in(place.path() / "plain"), always);
    EXPECT_EQ(read_bytes(place.path() / "more" / "pairs.tsv"), pairs_tsv(report));
    EXPECT_EQ(read_bytes(place.path() / "more" / "circuit.tsv"), circuit_tsv(report));
    const std::string occurrences = read_bytes(place.path() / "more" / "occurrences.tsv");
    EXPECT_EQ(occurrences.substr(0, occurrences.find("2\t1\t1")),
              "episode\toccurrence\tposition\tunit\ttime_s\n"
              "1\t1\t1\ta\t0.010000\n"
              "1\t1\t2\tb\t0.015000\n"
              "1\t1\t3\t<c&\"d\">\t0.020000\n"
              "1\t2\t1\ta\t0.110000\n"
              "1\t2\t2\tb\t0.115000\n"
              "1\t2\t3\t<c&\"d\">\t0.120000\n");
    // The direct pairs are there, and the indirect one is not.
    EXPECT_NE(occurrences.find("\n3\t2\t2\t"), std::string::npos);
    EXPECT_EQ(occurrences.find("\n4\t"), std::string::npos);
}

TEST(WriteEpisodeReport, ReplacesOnlyWhatItMayAndKnows) {
    const temporary_folder place;
    const auto folder = place.path() / "out";
    episode_report report = small_episode_report();
    report.with_occurrences = true;
    write_report(folder, report);
    report.with_occurrences = false;

    EXPECT_THROW(write_report(folder, report), io_error);
    EXPECT_EQ(names_in(folder).size(), 9U);
    write_report(folder, report, true);
    EXPECT_EQ(names_in(folder), always);
    place.file("out/notes.txt", "mine");
    EXPECT_THROW(write_report(folder, report, true), io_error);
    EXPECT_EQ(read_bytes(folder / "notes.txt"), "mine");
    place.file("file", "mine");
    EXPECT_THROW(write_report(place.path() / "file", report, true), io_error);
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{"out", "file"}));
    EXPECT_THROW(write_report(place.path() / "file" / "such", report), io_error);
}

TEST(WriteEpisodeReport, KeepsTheOldFolderWhenItIsStopped) {
    const temporary_folder place;
    const auto folder = place.path() / "out";
    write_report(folder, small_episode_report());
    const std::string before = read_bytes(folder / "run.json");
    std::stop_source stop;
    stop.request_stop();

    EXPECT_THROW(write_report(folder, episode_report{}, true, {.stop = stop.get_token()}),
                 cancelled);

    EXPECT_EQ(read_bytes(folder / "run.json"), before);
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{"out"}));
}

TEST(WriteEpisodeReport, WritesTheSameBytesForAnyNumberOfThreads) {
    const temporary_folder place;
    const spike_sequence spikes = simulate_sym26({.length = 10s}).spikes;
    for (const int threads : {1, 4}) {
        const execution run{.threads = threads};
        episode_report report{.spikes = spikes};
        report.table =
            mine_episodes(spikes, {.delays = {{4ms, 6ms}, {8ms, 11ms}}, .min_count = 40}, run);
        report.assessed = test_against_null(spikes, report.table);
        report.surrogate = {.surrogates = 5};
        report.surrogates = test_against_surrogates(spikes, report.table, report.surrogate,
                                                    correction_method::holm, run);
        report.circuit = find_circuit(spikes, report.table, report.assessed, {}, run);
        report.with_occurrences = true;
        write_report(place.path() / std::to_string(threads), report, false, run);
    }

    for (const char* name : {"episodes.tsv", "circuit.tsv", "lags.tsv", "circuit.graphml",
                             "circuit.svg", "occurrences.tsv"}) {
        const std::string one = read_bytes(place.path() / "1" / name);
        EXPECT_FALSE(one.empty());
        EXPECT_EQ(one, read_bytes(place.path() / "4" / name)) << name;
    }
}

}  // namespace
}  // namespace spikeweave
