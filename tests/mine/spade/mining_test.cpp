#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "mine/spade/fp_growth/checked_uint32.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

spike_sequence trains(const std::vector<std::vector<std::int64_t>>& times_us, time_span span) {
    spike_sequence_builder builder;
    for (std::size_t unit = 0; unit < times_us.size(); ++unit) {
        const unit_id id = builder.unit(std::to_string(unit));
        for (const std::int64_t time : times_us[unit]) builder.append(time, id);
    }
    return builder.finish(span);
}

// Parses "2 5 9" into numbers.
template <class Number>
std::vector<Number> numbers(const std::string& text) {
    std::istringstream in(text);
    std::vector<Number> all;
    for (Number number{}; in >> number;) all.push_back(number);
    return all;
}

std::ifstream golden(const char* name) {
    return std::ifstream(std::string(SPIKEWEAVE_SOURCE_DIR) + "/tests/golden/" + name);
}

class Spade : public ::testing::TestWithParam<spade_strategy> {
protected:
    pattern_mining_result mine(const spade_windows& windows, std::vector<pattern_rule> rules,
                               std::uint32_t max_occ = 0) const {
        return mine_patterns(
            windows, {.rules = std::move(rules), .max_occ = max_occ, .strategy = GetParam()},
            {.threads = 2});
    }
};

INSTANTIATE_TEST_SUITE_P(Every, Spade,
                         ::testing::Values(spade_strategy::fp_growth, spade_strategy::first_bin),
                         [](const auto& param) {
                             return param.param == spade_strategy::fp_growth ? "fp_growth"
                                                                             : "first_bin";
                         });

// A pattern that Elephant's own Python miner loses (elephant 1.2 without its C++ module finds
// nothing).
TEST_P(Spade, FindsAPatternAmongWindowsThatOverlap) {
    const spade_windows windows(binned_spikes({0, 3, 4}, {1, 2, 3, 2}, 4), 2);

    const pattern_mining_result mined = mine(windows, {{.min_occ = 2, .min_spikes = 2}});

    ASSERT_EQ(mined.table.size(), 1U);
    EXPECT_EQ(std::vector(mined.table.items), (std::vector<pattern_item>{0, 1}));
    EXPECT_EQ(mined.table.counts, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(mined.table.occurrences, (std::vector<std::uint32_t>{1, 2}));
    EXPECT_EQ(mined.table.duration(0), 1U);
    EXPECT_EQ(mined.summary.ran_on, GetParam());
}

// Unit 0 fires three bins before unit 1, twice; unit 2 fires two bins before unit 1 as well, so
// that (2, 1) ends together with (0, 2, 1).
TEST_P(Spade, LeavesOutWhatIsPartOfALongerPatternThatBeginsEarlier) {
    const spade_windows windows(binned_spikes({0, 2, 4, 6}, {0, 10, 3, 13, 1, 11}, 20), 5);
    const auto patterns = [](const pattern_mining_result& mined) {
        std::vector<std::vector<pattern_item>> all;
        for (std::size_t i = 0; i < mined.table.size(); ++i)
            all.emplace_back(mined.table.pattern(i).begin(), mined.table.pattern(i).end());
        return all;
    };

    const pattern_mining_result dropped = mine(windows, {{}});
    const pattern_mining_result kept = mine_patterns(
        windows, {.drop_window_subsets = false, .strategy = GetParam()}, {.threads = 1});

    EXPECT_EQ(patterns(dropped), (std::vector<std::vector<pattern_item>>{{0, 11, 8}}));
    EXPECT_EQ(dropped.summary.closed, 2U);
    EXPECT_EQ(dropped.summary.window_subsets, 1U);
    EXPECT_EQ(patterns(kept), (std::vector<std::vector<pattern_item>>{{0, 11, 8}, {10, 7}}));
    EXPECT_EQ(kept.summary.window_subsets, 0U);
}

// {0, 1, 2} is in two windows, {0, 1} in three, {0} in four.
TEST_P(Spade, ClosednessIsTrueBeyondTheLargestSize) {
    const spade_windows windows({0, 3, 6, 8, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 0}, 3, 1);

    const pattern_mining_result two =
        mine(windows, {{.min_occ = 1, .min_spikes = 2, .max_spikes = 2}});

    ASSERT_EQ(two.table.size(), 1U);  // {0, 2} and {1, 2} are parts of the three
    EXPECT_EQ(two.table.items, (std::vector<pattern_item>{0, 1}));
    EXPECT_EQ(two.table.counts[0], 3U);
}

TEST_P(Spade, EachThresholdIsObeyed) {
    // Units 0 and 1 fire in windows of two bins; unit 0 also fires twice in a window.
    const spade_windows windows({0, 3, 6, 9, 11, 12}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0}, 2, 2);
    const auto counts = [&](std::vector<pattern_rule> rules, std::uint32_t max_occ = 0) {
        return mine(windows, std::move(rules), max_occ).table.counts;
    };
    using list = std::vector<std::uint32_t>;

    // In this order: {0}, {0 of unit 0, 0 of unit 1, 1 of unit 0}, {0 and 1 of unit 0}.
    EXPECT_EQ(counts({{.min_occ = 1, .min_spikes = 1}}), (list{5, 3, 4}));
    EXPECT_EQ(counts({{.min_occ = 4, .min_spikes = 1}}), (list{5, 4}));
    EXPECT_EQ(counts({{.min_occ = 1, .min_spikes = 2}}), (list{3, 4}));
    EXPECT_EQ(counts({{.min_occ = 1, .min_spikes = 1, .max_spikes = 2}}), (list{5, 4}));
    EXPECT_EQ(counts({{.min_occ = 1, .min_spikes = 1, .min_neu = 2}}), (list{3}));
    EXPECT_EQ(counts({{.min_occ = 1, .min_spikes = 1}}, 4), (list{3, 4}));
    EXPECT_EQ(counts({{.min_occ = 5, .min_spikes = 1}, {.min_occ = 3, .min_spikes = 3}}),
              (list{5, 3}));
}

TEST_P(Spade, IdenticalWindowsObeyTheThresholdsToo) {
    const spade_windows windows({0, 3, 6}, {0, 1, 2, 0, 1, 2}, 3, 1);

    EXPECT_EQ(mine(windows, {{.min_occ = 2, .min_spikes = 3}}).table.counts,
              (std::vector<std::uint32_t>{2}));
    EXPECT_TRUE(mine(windows, {{.min_occ = 3, .min_spikes = 2}}).table.empty());
    EXPECT_TRUE(mine(windows, {{.min_occ = 2, .min_spikes = 4}}).table.empty());
    EXPECT_TRUE(mine(windows, {{.min_occ = 2, .min_spikes = 2, .min_neu = 4}}).table.empty());
}

TEST_P(Spade, TakesIdenticalWindowsAsElephantDoesWhenAsked) {
    const spade_windows identical({0, 3, 6}, {0, 1, 2, 0, 1, 2}, 3, 1);
    const spade_windows different({0, 3, 5}, {0, 1, 2, 0, 1}, 3, 1);
    const pattern_mining_options options{.rules = {{.min_occ = 3, .min_spikes = 4}},
                                         .take_identical_windows = true,
                                         .strategy = GetParam()};

    const auto mined = mine_patterns(identical, options, {.threads = 1});

    EXPECT_EQ(mined.table.items, (std::vector<pattern_item>{0, 1, 2}));
    EXPECT_EQ(mined.table.counts, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(find_occurrence_maxima(identical, options, spectrum_kind::size_count).at(3, 0), 2U);
    EXPECT_TRUE(mine_patterns(different, options, {.threads = 1}).table.empty());
}

TEST_P(Spade, WithoutOccurrencesTheRestIsTheSame) {
    const spade_windows windows({0, 2, 4}, {0, 1, 0, 1}, 2, 1);

    const auto mined =
        mine_patterns(windows, {.with_occurrences = false, .strategy = GetParam()}, {.threads = 1});

    EXPECT_EQ(mined.table.counts, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(mined.table.occurrence_offsets, (std::vector<std::uint64_t>{0}));
    EXPECT_TRUE(mined.table.occurrences.empty());
}

// The example in elephant.spade.spade: same concepts, same windows, at three settings.
TEST_P(Spade, AgreesWithElephantOnItsOwnExample) {
    std::ifstream file = golden("spade_docstring.txt");
    std::vector<std::vector<std::int64_t>> times;
    std::string line;
    while (std::getline(file, line) && line.starts_with("train "))
        times.push_back(numbers<std::int64_t>(line.substr(6)));
    const spike_sequence spikes = trains(times, {duration{0}, duration{5s}});

    std::vector<std::size_t> sizes;
    do {
        const auto setting = numbers<std::uint32_t>(line.substr(8));  // bin, window, concepts
        const auto binned = bin_spikes(spikes, {.bin = std::chrono::milliseconds{setting[0]},
                                                .compat = compatibility::elephant});
        const pattern_table mined =
            mine(spade_windows(binned.spikes, setting[1]), {pattern_rule{}}).table;
        sizes.push_back(mined.size());
        std::vector<std::string> found;
        for (std::size_t i = 0; i < mined.size(); ++i) {
            std::vector<pattern_item> items(mined.pattern(i).begin(), mined.pattern(i).end());
            std::sort(items.begin(), items.end());
            std::string text;
            for (const pattern_item item : items) text += std::to_string(item) + " ";
            text += ":";
            for (const std::uint32_t start : mined.occurrences_of(i))
                text += " " + std::to_string(start);
            found.push_back(std::move(text));
        }
        std::vector<std::string> expected(setting[2]);
        for (std::string& row : expected) std::getline(file, row);
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(found, expected);
    } while (std::getline(file, line));
    EXPECT_EQ(sizes, (std::vector<std::size_t>{410, 90, 22}));
}

TEST_P(Spade, RulesThatCannotBeAreRefused) {
    const spade_windows windows({0, 1}, {0}, 1, 1);
    EXPECT_THROW(mine(windows, {}), invalid_argument);
    EXPECT_THROW(mine(windows, {{.min_occ = 0}}), invalid_argument);
    EXPECT_THROW(mine(windows, {{.min_spikes = 0}}), invalid_argument);
    EXPECT_THROW(mine(windows, {{.min_neu = 0}}), invalid_argument);
    EXPECT_THROW(mine(windows, {{.min_spikes = 3, .max_spikes = 2}}), invalid_argument);
    EXPECT_THROW(mine(windows, {{.max_spikes = 2, .min_neu = 3}}), invalid_argument);
    EXPECT_THROW(mine(windows, {{.min_occ = 3}}, 2), invalid_argument);
}

TEST_P(Spade, StopsWithinASecond) {
    // 60 units in windows of 20 bins, all of them busy, have more patterns than one can wait for.
    std::vector<std::size_t> offsets{0};
    std::vector<std::uint32_t> bins;
    std::uint64_t state = 1;
    for (int unit = 0; unit < 60; ++unit) {
        for (std::uint32_t bin = 0; bin < 4'000; ++bin) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            if (state >> 60U < 4) bins.push_back(bin);
        }
        offsets.push_back(bins.size());
    }
    const spade_windows windows(binned_spikes(std::move(offsets), std::move(bins), 4'000), 20);
    std::stop_source source;
    std::jthread later([&source] {
        std::this_thread::sleep_for(300ms);
        source.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(
        mine_patterns(windows, {.rules = {{.min_occ = 3, .min_spikes = 4}}, .strategy = GetParam()},
                      [](const pattern_table&) {}, {.threads = 2, .stop = source.get_token()}),
        cancelled);
    // It takes a second on an idle machine, and several under a sanitizer.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, is_shortened_run() ? 30s : 5s);
}

TEST(SpadeWindows, ListTheirItemsOneAfterAnother) {
    const spade_windows windows(binned_spikes({0, 2, 3}, {1, 2, 2}, 4), 2);
    ASSERT_EQ(windows.size(), 2U);
    EXPECT_TRUE(std::ranges::equal(windows.offsets(), std::vector<std::size_t>{0, 3, 5}));
    EXPECT_TRUE(std::ranges::equal(windows.all_items(), std::vector<pattern_item>{0, 1, 3, 0, 2}));
}

TEST(SpadeBins, EdgesOfSecondsFallEarlyAsElephantsDo) {
    std::vector<std::int64_t> edges;
    for (std::int64_t k = 0; k < 4'464; ++k) edges.push_back(k * 5'000);
    const spike_sequence spikes = trains({edges}, {duration{0}, duration{22'320'000}});
    const auto early = [&](compatibility compat) {
        const binned_spikes binned = bin_spikes(spikes, {.bin = 5ms, .compat = compat}).spikes;
        std::vector<bool> filled(4'464, false);
        for (const std::uint32_t bin : binned.bins(unit_id{0})) filled[bin] = true;
        return std::count(filled.begin(), filled.end(), false);
    };
    // A spike that falls one bin too early leaves its own bin empty, unless the next one does so,
    // too.
    EXPECT_GT(early(compatibility::elephant), 0);
    EXPECT_EQ(early(compatibility::elephant_ms), 0);
    EXPECT_EQ(early(compatibility::none), 0);

    std::size_t moved = 0;
    for (std::int64_t k = 0; k < 4'464; ++k) {
        const auto one = bin_spikes(trains({{k * 5'000}}, {duration{0}, duration{22'320'000}}),
                                    {.bin = 5ms, .compat = compatibility::elephant});
        if (one.spikes.bins(unit_id{0})[0] != static_cast<std::uint32_t>(k)) ++moved;
    }
    EXPECT_EQ(moved, 287U);
}

TEST(SpadeBins, TheTailAndItsSpikesAreCutAsElephantDoes) {
    const spike_sequence spikes =
        trains({{0, 99'999, 150'000, 199'999, 250'000, 300'000}}, {duration{0}, duration{300'000}});
    const auto elephant = bin_spikes(spikes, {.bin = 100ms, .compat = compatibility::elephant});
    EXPECT_EQ(elephant.spikes.bin_count(), 2U);  // 0.3 / 0.1 is below 3
    EXPECT_EQ(elephant.outside, 2U);
    EXPECT_EQ(elephant.clipped, 2U);

    const auto exact = bin_spikes(spikes, {.bin = 100ms});
    EXPECT_EQ(exact.spikes.bin_count(), 4U);  // the last spike is at the end of the third
    EXPECT_EQ(exact.outside, 0U);
    EXPECT_EQ(exact.spikes.size(), 4U);
}

TEST(SpadeBins, AreElephantsBitByBit) {
    std::ifstream file = golden("binned_spike_trains.txt");
    std::size_t cases = 0;
    std::string head;
    std::string times;
    std::string bins;
    for (; std::getline(file, head) && std::getline(file, times) && std::getline(file, bins);
         ++cases) {
        const bool seconds = head.starts_with("s ");
        const auto given = numbers<std::int64_t>(head.substr(head.find(' ')));
        const auto binned = bin_spikes(
            trains({numbers<std::int64_t>(times)}, {duration{given[1]}, duration{given[2]}}),
            {.bin = duration{given[0]},
             .compat = seconds ? compatibility::elephant : compatibility::elephant_ms});
        const auto found = binned.spikes.bins(unit_id{0});
        EXPECT_EQ(binned.spikes.bin_count(), given[3]) << head;
        EXPECT_EQ(std::vector(found.begin(), found.end()), numbers<std::uint32_t>(bins)) << head;
    }
    EXPECT_EQ(cases, 300U);
}

TEST(SpadeBins, ExactBinsDoNotDependOnTheFirstSpike) {
    const auto bins = [](std::vector<std::int64_t> times, time_span span) {
        const auto binned = bin_spikes(trains({std::move(times)}, span), {.bin = 5ms});
        const auto found = binned.spikes.bins(unit_id{0});
        return std::pair(binned.origin, std::vector(found.begin(), found.end()));
    };
    using list = std::vector<std::uint32_t>;
    EXPECT_EQ(bins({7'000, 10'000}, {duration{7'000}, duration{20'000}}),
              std::pair(duration{5ms}, list{0, 1}));
    EXPECT_EQ(bins({-1, 0}, {duration{-1}, duration{0}}), std::pair(duration{-5ms}, list{0, 1}));
}

class TransactionFile : public ::testing::Test {
protected:
    spade_windows read(std::string_view text, std::uint32_t window_bins = 10) const {
        return read_transactions(folder_.file("windows.txt", text), window_bins);
    }
    std::string error_of(std::string_view text) const {
        try {
            static_cast<void>(read(text));
        } catch (const io_error& error) {
            return error.what();
        }
        return "read without an error";
    }
    static std::vector<std::vector<pattern_item>> items_of(const spade_windows& windows) {
        std::vector<std::vector<pattern_item>> all;
        for (std::size_t w = 0; w < windows.size(); ++w)
            all.emplace_back(windows.items(w).begin(), windows.items(w).end());
        return all;
    }
    using lists = std::vector<std::vector<pattern_item>>;

    temporary_folder folder_;
};

TEST_F(TransactionFile, HasAWindowALine) {
    const spade_windows windows = read("0 12 35 \n\n  7\t3\n3");
    EXPECT_EQ(items_of(windows), (lists{{0, 12, 35}, {}, {3, 7}, {3}}));
    EXPECT_EQ(windows.unit_count(), 4U);
    EXPECT_EQ(windows.window_bins(), 10U);
    EXPECT_FALSE(windows.from_bins());
    EXPECT_EQ(std::vector(windows.starts().begin(), windows.starts().end()),
              (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST_F(TransactionFile, MayEndItsLinesAsWindowsDoes) {
    EXPECT_EQ(items_of(read("1 2 \r\n3\r\n")), (lists{{1, 2}, {3}}));
}

TEST_F(TransactionFile, MayBePacked) {
    const auto path = folder_.path() / "windows.txt.gz";
    const gzFile packed = gzopen(path.c_str(), "wb");
    gzputs(packed, "5 6\n7\n");
    gzclose(packed);
    EXPECT_EQ(items_of(read_transactions(path, 4)), (lists{{5, 6}, {7}}));
}

TEST_F(TransactionFile, TakesTheLargestItemThereMayBe) {
    // For larger items, units × bins would not fit.
    EXPECT_EQ(items_of(read("2147483646\n", 1)), (lists{{2147483646}}));
}

TEST_F(TransactionFile, SaysWhatIsWrongAndWhere) {
    const auto says = [&](std::string_view text, std::string_view expected) {
        const std::string error = error_of(text);
        EXPECT_NE(error.find(expected), std::string::npos) << error;
        EXPECT_NE(error.find("windows.txt'"), std::string::npos) << error;
    };
    says("1 2\n3 x 4\n", "line 2: found 'x', expected items as whole numbers separated by spaces");
    says("1 2.5\n", "line 1: found '2.5', expected items as whole numbers");
    says("1,2\n", "line 1: found '1,2', expected items as whole numbers");
    says("1\n\n4 2 4\n", "line 3: item 4 is listed twice, expected it once a window");
    says("1\n-3\n", "line 2: found the item '-3', expected 0 to 2147483647");
    says("2147483648\n", "line 1: found the item '2147483648', expected 0 to 2147483647");
    says("99999999999999999999\n", "line 1: found the item '99999999999999999999'");
    says("2147483647\n",
         "are more items than can be numbered");  // together with the other bins of its unit
    says("", "has no item");
    says("\n\n \n", "has no item");
}

TEST_F(TransactionFile, WhichIsNotThereIsNamed) {
    EXPECT_THROW(read_transactions(folder_.path() / "none.txt", 5), io_error);
    EXPECT_THROW(read("1 2\n", 0), invalid_argument);
}

TEST_F(TransactionFile, IsReadNoFurtherOnceStopped) {
    std::string text;
    for (int i = 0; i < 5'000; ++i) text += "1 2 3\n";
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(
        read_transactions(folder_.file("windows.txt", text), 5, {.stop = source.get_token()}),
        cancelled);
}

TEST(SpadeWindows, BeginAtEveryBinWithASpike) {
    // Unit 0 fires in bins 0 and 4, unit 1 in bins 1, 4 and 6; the last windows are shorter.
    const spade_windows windows(binned_spikes({0, 2, 5}, {0, 4, 1, 4, 6}, 7), 3);
    std::vector<std::vector<pattern_item>> items;
    for (std::size_t w = 0; w < windows.size(); ++w)
        items.emplace_back(windows.items(w).begin(), windows.items(w).end());
    EXPECT_EQ(items, (std::vector<std::vector<pattern_item>>{{0, 4}, {3}, {0, 3, 5}, {3}}));
    EXPECT_EQ(std::vector(windows.starts().begin(), windows.starts().end()),
              (std::vector<std::uint32_t>{0, 1, 4, 6}));
    EXPECT_TRUE(windows.from_bins());
}

TEST(SpadeWindows, ThatCannotBeAreRefused) {
    EXPECT_THROW(spade_windows({0, 2}, {1, 1}, 1, 2), invalid_argument);
    EXPECT_THROW(spade_windows({0, 2}, {1, 0}, 1, 2), invalid_argument);
    EXPECT_THROW(spade_windows({0, 1}, {2}, 1, 2), invalid_argument);
    EXPECT_THROW(spade_windows({0, 2}, {1}, 1, 2), invalid_argument);
    EXPECT_THROW(spade_windows({1, 1}, {1}, 1, 2), invalid_argument);
    EXPECT_THROW(spade_windows({0, 1}, {0}, 1, 0), invalid_argument);
    EXPECT_THROW(spade_windows({0, 1}, {0}, std::size_t{1} << 31U, 2), invalid_argument);
}

TEST(SpadeNames, AreReadAsTheyAreWritten) {
    for (const spade_strategy strategy : available_spade_strategies())
        EXPECT_EQ(value_named<spade_strategy>(to_string(strategy)), strategy);
    for (const spectrum_kind kind : {spectrum_kind::size_count, spectrum_kind::size_count_duration})
        EXPECT_EQ(value_named<spectrum_kind>(to_string(kind)), kind);
    EXPECT_THROW(value_named<spade_strategy>("apriori"), invalid_argument);
    EXPECT_THROW(value_named<spectrum_kind>("2d#"), invalid_argument);
}

TEST(MinePatterns, RefusesMoreThanCanBeNumbered) {
    EXPECT_EQ(spade::checked_uint32(UINT32_MAX - 1, "nodes"), UINT32_MAX - 1);
    EXPECT_THROW(spade::checked_uint32(UINT32_MAX, "nodes"), invalid_argument);
    EXPECT_THROW(spade::checked_uint32(std::uint64_t{1} << 32U, "nodes"), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
