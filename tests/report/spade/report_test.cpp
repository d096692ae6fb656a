#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "report/spade/view.hpp"
#include "spikeweave/assess/spade/tally.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/spade.hpp"
#include "support/count_of.hpp"
#include "support/random_patterns.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t window = 4;

constexpr pattern_item at(std::uint32_t unit, std::uint32_t lag) {
    return unit * window + lag;
}

// Three units in bins of 5 ms from 1 s on; the third has a name that must be escaped in XML.
pattern_report small_pattern_report() {
    pattern_report out;
    out.axes = {.unit_names = {"a", "b", "<c&\"d\">"}, .window_bins = window, .origin = 1s};
    out.table.window_bins = window;
    const std::vector<std::uint32_t> often{0, 10, 20, 205};
    const std::vector<std::uint32_t> twice{7, 40};
    out.table.append(std::vector{at(0, 0), at(1, 2)}, 4, often);
    out.table.append(std::vector{at(0, 0), at(2, 0), at(1, 3)}, 2, twice);
    out.table.append(std::vector{at(1, 0), at(2, 1)}, 2, twice);
    out.patterns = 3;
    out.assessment = pattern_test_result{
        .spectrum = {.surrogates = 99,
                     .entries = {{{2, 2, 0}, 99, 1},
                                 {{2, 3, 0}, 25, 25.0 / 99},
                                 {{3, 2, 0}, 3, 3.0 / 99}}},
        .tests = {
            .signatures = {
                {.what = {2, 2, 0}, .patterns = 5, .reached = 99, .reason = test_reason::p_is_one},
                {.what = {2, 4, 0},
                 .patterns = 1,
                 .p = 0.01,
                 .q = 0.02,
                 .tested = true,
                 .significant = true,
                 .reason = test_reason::absent},
                {.what = {3, 2, 0},
                 .patterns = 1,
                 .reached = 3,
                 .p = 0.04,
                 .q = 0.04,
                 .tested = true,
                 .significant = true}}}};
    out.testing.alpha = 0.05;
    out.funnel = {{"closed patterns", 0, 9, ""},
                  {"window subsets", 2, 7, "part of a longer one"},
                  {"significance", 4, 3, "signature not significant"}};
    out.ran_on = spade_strategy::first_bin;
    out.input = {.spikes = 40, .bins = 400, .windows = 31, .items = 90, .length = 2s};
    out.run = {.command = "spikeweave spade x.tsv",
               .parameters = {{"bin", "5 ms"}},
               .input = {"x.tsv", 123, "xxh3-128", "00ff"},
               .version = "0.1.0",
               .seed = 7,
               .threads = 2};
    return out;
}

pattern_report untested_report() {
    pattern_report out = small_pattern_report();
    out.assessment.reset();
    out.signatures = {{2, 2, 0, 1}, {2, 4, 0, 1}, {3, 2, 0, 1}};
    return out;
}

std::string patterns_tsv(const pattern_report& report) {
    std::string text;
    report::write_patterns(report::pattern_view(report),
                           [&](std::string_view piece) { text += piece; }, {});
    return text;
}

std::string tsv_of_signatures(const pattern_report& report) {
    const report::pattern_view view(report);
    return report::tsv_of(report::signatures_table(view));
}

TEST(PatternReport, ListsPatternsByTheirP) {
    const pattern_report report = small_pattern_report();

    EXPECT_EQ(patterns_tsv(report),
              "pattern\tsize\tunits\tlags_ms\tcount\tduration_ms\tp\tq\tsignificant\ttimes_s\n"
              "1\t2\ta,b\t0,10\t4\t10\t0.01\t0.02\tyes\t1,1.05,1.1,2.025\n"
              "2\t3\ta,<c&\"d\">,b\t0,0,15\t2\t15\t0.04\t0.04\tyes\t1.035,1.2\n"
              "3\t2\tb,<c&\"d\">\t0,5\t2\t5\t1\t1\tno\t1.035,1.2\n");
}

TEST(PatternReport, ListsTheLargestFirstWithoutTests) {
    const pattern_report report = untested_report();

    const std::string table = patterns_tsv(report);

    EXPECT_EQ(table.substr(0, table.find("3\t2\tb")),
              "pattern\tsize\tunits\tlags_ms\tcount\tduration_ms\ttimes_s\n"
              "1\t3\ta,<c&\"d\">,b\t0,0,15\t2\t15\t1.035,1.2\n"
              "2\t2\ta,b\t0,10\t4\t10\t1,1.05,1.1,2.025\n");
}

TEST(PatternReport, GivesStabilityWhereItWasComputed) {
    pattern_report report = small_pattern_report();
    report.stabilities = {{0.5, 0.25}, {1, 0.125}, {0, 0}};

    const std::string table = patterns_tsv(report);

    EXPECT_NE(table.find("significant\tstability_intensional\tstability_extensional\ttimes_s\n"),
              std::string::npos);
    EXPECT_NE(table.find("\tyes\t0.5\t0.25\t1,1.05"), std::string::npos);
}

TEST(PatternReport, SaysOfEverySignatureWhatBecameOfIt) {
    const pattern_report report = small_pattern_report();

    EXPECT_EQ(tsv_of_signatures(report),
              "size\tcount\tduration_ms\tpatterns\treached\tp\ttested\tq\tsignificant\treason\n"
              "2\t2\t-\t5\t99\t1\tno\t1\tno\t" +
                  std::string(to_string(test_reason::p_is_one)) +
                  "\n"
                  "2\t4\t-\t1\t0\t0.01\tyes\t0.02\tyes\t" +
                  std::string(to_string(test_reason::absent)) +
                  "\n"
                  "3\t2\t-\t1\t3\t0.04\tyes\t0.04\tyes\t" +
                  std::string(to_string(test_reason::tested)) + "\n");
    const report::pattern_view view(report);
    EXPECT_EQ(report::tsv_of(report::spectrum_table(view, report::table_use::file_only)),
              "size\tcount\tduration_ms\treached\tp\n"
              "2\t2\t-\t99\t1\n2\t3\t-\t25\t0.252525\n3\t2\t-\t3\t0.030303\n");
    EXPECT_EQ(report::tsv_of(report::funnel_table(view)),
              "step\tbefore\tremoved\tleft\twhy\n"
              "closed patterns\t9\t0\t9\t\n"
              "window subsets\t9\t2\t7\tpart of a longer one\n"
              "significance\t7\t4\t3\tsignature not significant\n");
}

TEST(PatternReport, GivesSignaturesTheirDurationWithThreeDimensions) {
    pattern_report report = untested_report();
    report.spectrum = spectrum_kind::size_count_duration;
    report.signatures = {{2, 4, 2, 1}};

    EXPECT_NE(tsv_of_signatures(report).find("\n2\t4\t10\t1\t-\t-\tno\t-\t-\tno surrogates\n"),
              std::string::npos);
}

TEST(PatternAxes, LeadBackToTheOriginalRecording) {
    pattern_axes axes{.bin = 5ms, .origin = 0s};
    EXPECT_EQ(axes.time_of(3), 15ms);
    // 100 ms from 2 s on, 50 ms of separation, and 100 ms from 7 s on.
    axes.segments = {{2ms, 2s}, {150ms, 7s}};
    EXPECT_EQ(axes.time_of(0), 2s - 2ms);
    EXPECT_EQ(axes.time_of(1), 2s + 3ms);
    EXPECT_EQ(axes.time_of(29), 2s + 143ms);
    EXPECT_EQ(axes.time_of(30), 7s);
    EXPECT_EQ(axes.time_of(31), 7005ms);
}

TEST(PatternReport, WritesTimesToTheMicrosecond) {
    pattern_report report = untested_report();
    report.axes.bin = 7us;
    report.axes.origin = -20us;

    const std::string table = patterns_tsv(report);

    EXPECT_NE(table.find("\t0,0.014\t4\t0.014\t-0.00002,0.00005,0.00012,0.001415\n"),
              std::string::npos)
        << table;
}

const std::set<std::string> always_patterns{"result.json", "patterns.tsv", "signatures.tsv",
                                            "funnel.tsv",  "run.json",     "report.html"};

TEST(WritePatternReport, WritesAWholeFolderAndNothingBesideIt) {
    const temporary_folder place;

    write_report(place.path() / "plain", untested_report());
    write_report(place.path() / "tested/", small_pattern_report());

    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{"plain", "tested"}));
    EXPECT_EQ(names_in(place.path() / "plain"), always_patterns);
    std::set<std::string> with_tests = always_patterns;
    with_tests.insert("spectrum.tsv");
    EXPECT_EQ(names_in(place.path() / "tested"), with_tests);
}

TEST(WritePatternReport, LeavesThePageOutOnRequest) {
    const temporary_folder place;
    pattern_report report = untested_report();
    report.with_page = false;

    write_report(place.path() / "out", report);

    EXPECT_FALSE(names_in(place.path() / "out").contains("report.html"));
}

TEST(WritePatternReport, ReplacesOnlyWhatItMayAndKnows) {
    const temporary_folder place;
    const auto folder = place.path() / "out";
    write_report(folder, small_pattern_report());

    EXPECT_THROW(write_report(folder, untested_report()), io_error);
    write_report(folder, untested_report(), true);
    EXPECT_EQ(names_in(folder), always_patterns);
    place.file("out/notes.txt", "mine");
    EXPECT_THROW(write_report(folder, small_pattern_report(), true), io_error);
    EXPECT_EQ(read_bytes(folder / "notes.txt"), "mine");
}

TEST(WritePatternReport, LeavesNothingWhenItIsStopped) {
    const temporary_folder place;
    std::stop_source stop;
    stop.request_stop();

    EXPECT_THROW(write_report(place.path() / "out", small_pattern_report(), false,
                              {.stop = stop.get_token()}),
                 cancelled);

    EXPECT_TRUE(names_in(place.path()).empty());
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

// The file has a writer of its own, because it may have millions of lines.
TEST(PatternReport, WritesTheCellsThatItsColumnsDescribe) {
    pattern_report report = small_pattern_report();
    report.stabilities = {{0.5, 0.25}, {1, 0.125}, {0, 0}};
    report.replication = spade_replication{
        .tests = {pattern_replication{3, 1.5, 0.02, 0.04}, {}, pattern_replication{}}};
    const report::pattern_view view(report);
    const report::result_table described = report::patterns_table(view);

    const std::vector<std::string> lines = lines_of(patterns_tsv(report));

    ASSERT_EQ(lines.size(), described.size + 1);
    for (std::size_t i = 0; i < described.size; ++i) {
        const std::string cells = report::tsv_line(described.at(i), report.axes.unit_names);
        EXPECT_EQ(lines[i + 1].substr(0, cells.size() + 1), cells + "\t");
    }
}

TEST(PatternStream, WritesTheSameLinesInTheOrderInWhichTheyCome) {
    const temporary_folder place;
    const pattern_table table = random_patterns(5, 40'000, window);
    pattern_report report = untested_report();
    report.table = table;
    report.patterns = table.size();
    const auto collected = lines_of(patterns_tsv(report));

    pattern_stream stream(place.path() / "out", report.axes, true);
    pattern_tally tally(window, spectrum_kind::size_count, 3);
    for (std::size_t i = 0; i < table.size(); i += 4000) {
        pattern_table block{.window_bins = window};
        for (std::size_t k = i; k < i + 4000; ++k)
            block.append(table.pattern(k), table.counts[k], table.occurrences_of(k));
        stream.take(block);
        tally.take(block);
    }
    EXPECT_TRUE(std::filesystem::is_empty(place.path()) ||
                !std::filesystem::exists(place.path() / "out"));
    report.table = {.window_bins = window};
    report.numbers = tally.best_numbers();
    for (const std::uint64_t number : report.numbers)
        report.table.append(table.pattern(number - 1), table.counts[number - 1],
                            table.occurrences_of(number - 1));
    stream.commit(report);

    const auto streamed = lines_of(read_bytes(place.path() / "out" / "patterns.tsv"));
    const auto rest = [](const std::string& line) { return line.substr(line.find('\t')); };
    ASSERT_EQ(streamed.size(), 40'001U);
    EXPECT_EQ(streamed[0], collected[0]);
    std::multiset<std::string> ours;
    std::multiset<std::string> theirs;
    for (std::size_t i = 1; i < streamed.size(); ++i) {
        EXPECT_EQ(streamed[i].substr(0, streamed[i].find('\t')), std::to_string(i));
        ours.insert(rest(streamed[i]));
        theirs.insert(rest(collected[i]));
    }
    EXPECT_EQ(ours, theirs);
    EXPECT_EQ(names_in(place.path()), std::set<std::string>{"out"});
    EXPECT_EQ(names_in(place.path() / "out"), always_patterns);
}

TEST(PatternStream, LeavesNothingWhenItIsNotCommitted) {
    const temporary_folder place;
    {
        pattern_stream stream(place.path() / "out", small_pattern_report().axes, false);
        stream.take(random_patterns(1, 10, window));
    }
    EXPECT_TRUE(names_in(place.path()).empty());
}

TEST(PatternStream, WritesOccurrencesOnlyWhenAskedTo) {
    const temporary_folder place;
    pattern_report report = untested_report();
    pattern_stream stream(place.path() / "out", report.axes, false);
    stream.take(report.table);
    report.numbers = {1, 2, 3};
    stream.commit(report);

    EXPECT_EQ(read_bytes(place.path() / "out" / "patterns.tsv"),
              "pattern\tsize\tunits\tlags_ms\tcount\tduration_ms\n"
              "1\t2\ta,b\t0,10\t4\t10\n"
              "2\t3\ta,<c&\"d\">,b\t0,0,15\t2\t15\n"
              "3\t2\tb,<c&\"d\">\t0,5\t2\t5\n");
}

TEST(PatternReport, NumbersWindowsThatHaveNoTime) {
    pattern_report report = untested_report();
    report.axes.timed = false;

    const std::string table = patterns_tsv(report);

    EXPECT_NE(table.find("\twindows\n"), std::string::npos);
    EXPECT_NE(table.find("\t10\t0,10,20,205\n"), std::string::npos);
}

TEST(PatternReport, SaysInJsonHowItCameAbout) {
    const auto json = nlohmann::json::parse(to_json(small_pattern_report()));

    EXPECT_EQ(json["run"]["command"], "spikeweave spade x.tsv");
    EXPECT_EQ(json["run"]["search"]["strategy"], "first-bin");
    EXPECT_EQ(json["run"]["windows"]["window_bins"], 4);
    EXPECT_EQ(json["run"]["significance"]["surrogates"], 99);
    EXPECT_EQ(json["run"]["funnel"][2]["removed"], 4);
    EXPECT_EQ(json["patterns"][1]["units"][1], "<c&\"d\">");
    EXPECT_EQ(json["patterns"][1]["lags_ms"][2], 15);
    EXPECT_EQ(json["patterns"][0]["times_s"][3], 2.025);
    EXPECT_EQ(json["patterns"][0]["q"], 0.02);
    EXPECT_EQ(json["signatures"][0]["tested"], false);
    EXPECT_FALSE(nlohmann::json::parse(to_json(untested_report()))["run"].contains("significance"));
}

TEST(PatternReport, SaysInASentenceWhatWasFoundAndTested) {
    pattern_report report = untested_report();
    EXPECT_EQ(verdict_of(report), "3 patterns of 2 to 3 spikes among 3 units, not tested.");
    EXPECT_EQ(nlohmann::json::parse(to_json(report))["run"]["summary"], verdict_of(report));

    report.run.warnings = {"One."};
    const int bins = report.table.window_bins;
    report.table = {};
    report.table.window_bins = bins;
    report.table.item_offsets = {0};
    report.patterns = 0;
    EXPECT_EQ(verdict_of(report), "No pattern among 3 units, not tested. 1 warning.");
}

TEST(PatternReport, SummarizesInAPage) {
    const std::string page = summarize(small_pattern_report());

    EXPECT_EQ(page.substr(0, page.find("\nSignatures")),
              "3 significant patterns of 2 to 3 spikes among 3 units; 3 signatures tested against "
              "99 surrogates, 5 % false discovery rate.\n"
              "40 spikes of 3 units in 2 s; 31 windows of 4 × 5 ms; tested against 99 surrogates "
              "(alpha 0.05, fdr_bh)\n"
              "\n"
              "Significant patterns (3)\n"
              "  a →10ms→ b  (4 times, p 0.01, q 0.02)\n"
              "  a + <c&\"d\"> →15ms→ b  (2 times, p 0.04, q 0.04)\n"
              "  b →5ms→ <c&\"d\">  (2 times, p 1, q 1)\n");
    EXPECT_NE(page.find("\n  window subsets "), std::string::npos);
    EXPECT_NE(page.find("2 removed: part of a longer one"), std::string::npos);
    EXPECT_NE(summarize(small_pattern_report(), true).find("\033[1m"), std::string::npos);
}

TEST(PatternReport, SaysOnceThatNothingWasFound) {
    pattern_report report = small_pattern_report();
    report.table = {};
    report.table.window_bins = static_cast<int>(window);
    report.table.item_offsets = {0};
    report.patterns = 0;
    report.assessment->tests.signatures.clear();
    const std::string page = summarize(report);
    EXPECT_EQ(page.find("No significant pattern"), 0) << page;
    EXPECT_EQ(page.rfind("No significant pattern"), 0) << page;
    EXPECT_EQ(page.find("Signatures"), std::string::npos) << page;
}

TEST(PatternReport, SaysThatNoSurrogateReachedASignature) {
    pattern_report report = small_pattern_report();
    signature_test& kept = report.assessment->tests.signatures[1];
    kept.p = kept.q = 0;
    kept.tested = false;

    const std::string page = summarize(report);

    EXPECT_NE(page.find("\n  a →10ms→ b  (4 times, p 0 (none of 99 surrogates))\n"),
              std::string::npos);
    EXPECT_NE(page.find("1 pattern, p 0 (none of 99 surrogates), kept without a test\n"),
              std::string::npos);
}

TEST(PatternReport, RefusesPartsThatDoNotBelongTogether) {
    pattern_report without_times = small_pattern_report();
    without_times.table.occurrence_offsets = {0};
    pattern_report strange_unit = small_pattern_report();
    strange_unit.axes.unit_names.pop_back();
    pattern_report other_windows = small_pattern_report();
    other_windows.axes.window_bins = 5;
    pattern_report untested = small_pattern_report();
    untested.assessment->tests.signatures.pop_back();
    pattern_report unstable = small_pattern_report();
    unstable.stabilities.resize(2);
    pattern_report too_few = small_pattern_report();
    too_few.patterns = 2;

    for (const pattern_report* one :
         {&without_times, &strange_unit, &other_windows, &untested, &unstable, &too_few}) {
        EXPECT_THROW(to_json(*one), invalid_argument);
        EXPECT_THROW(summarize(*one), invalid_argument);
    }
}

}  // namespace
}  // namespace spikeweave
