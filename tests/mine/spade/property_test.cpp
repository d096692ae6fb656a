#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "spikeweave/mine/spade.hpp"
#include "support/brute_force_patterns.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {

// Used by GoogleTest to print tables that differ.
static void PrintTo(const pattern_table& table, std::ostream* out) {
    constexpr std::size_t most = 40;
    *out << table.size() << " patterns";
    for (std::size_t i = 0; i < std::min(table.size(), most); ++i) {
        *out << "\n ";
        for (const pattern_item item : table.pattern(i)) *out << ' ' << item;
        *out << " : " << table.counts[i];
    }
}

namespace {

constexpr spade_strategy both_strategies[] = {spade_strategy::fp_growth, spade_strategy::first_bin};
constexpr spectrum_kind both_kinds[] = {spectrum_kind::size_count,
                                        spectrum_kind::size_count_duration};

class random_databases {
public:
    explicit random_databases(std::uint64_t seed) : random_(seed) {}

    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    bool chance(std::uint32_t percent) { return below(100) < percent; }

    /// Makes units with different rates, some silent. Sometimes a segment is repeated, so that
    /// larger patterns recur.
    binned_spikes spikes(std::uint32_t units, std::uint32_t bins, std::uint32_t most_percent) {
        std::vector<std::vector<bool>> raster(units, std::vector<bool>(bins, false));
        for (auto& row : raster) {
            const std::uint32_t percent = chance(10) ? 0 : below(most_percent + 1);
            for (std::uint32_t bin = 0; bin < bins; ++bin) row[bin] = chance(percent);
        }
        if (bins > 4 && chance(50)) {
            const std::uint32_t length = 1 + below(bins / 2);
            const std::uint32_t from = below(bins - length + 1);
            const std::uint32_t to = below(bins - length + 1);
            for (auto& row : raster) {
                const std::vector<bool> stretch(row.begin() + from, row.begin() + from + length);
                std::copy(stretch.begin(), stretch.end(), row.begin() + to);
            }
        }
        std::vector<std::size_t> offsets{0};
        std::vector<std::uint32_t> fired;
        for (const auto& row : raster) {
            for (std::uint32_t bin = 0; bin < bins; ++bin)
                if (row[bin]) fired.push_back(bin);
            offsets.push_back(fired.size());
        }
        return {std::move(offsets), std::move(fired), bins};
    }

    std::vector<std::set<pattern_item>> windows(std::uint32_t count, std::uint32_t items,
                                                std::uint32_t percent) {
        std::vector<std::set<pattern_item>> all(count);
        for (auto& window : all)
            for (pattern_item item = 0; item < items; ++item)
                if (chance(percent)) window.insert(item);
        return all;
    }

    pattern_mining_options options(std::uint32_t units) {
        pattern_mining_options some{
            .rules = {}, .drop_window_subsets = chance(70), .with_occurrences = chance(80)};
        for (std::uint32_t i = 0; i <= below(3); ++i) {
            pattern_rule rule{.min_occ = 1 + below(3),
                              .min_spikes = 1 + below(5),
                              .min_neu = chance(50) ? 1 : 1 + below(units)};
            if (chance(40)) rule.max_spikes = std::max(rule.min_spikes, rule.min_neu) + below(3);
            some.rules.push_back(rule);
        }
        if (chance(30)) {
            for (const pattern_rule& rule : some.rules)
                some.max_occ = std::max(some.max_occ, rule.min_occ);
            some.max_occ += below(3);
        }
        return some;
    }

private:
    std::mt19937_64 random_;
};

spade_windows given(const std::vector<std::set<pattern_item>>& windows, std::size_t units,
                    std::uint32_t window_bins) {
    std::vector<std::size_t> offsets{0};
    std::vector<pattern_item> items;
    for (const auto& window : windows) {
        items.insert(items.end(), window.begin(), window.end());
        offsets.push_back(items.size());
    }
    return {std::move(offsets), std::move(items), units, window_bins};
}

std::string describe(const spade_windows& windows, const pattern_mining_options& options) {
    std::string text = "windows of " + std::to_string(windows.window_bins()) + " bins:";
    constexpr std::size_t most = 40;
    for (std::size_t w = 0; w < std::min(windows.size(), most); ++w) {
        text += "\n" + std::to_string(windows.starts()[w]) + ":";
        for (const pattern_item item : windows.items(w)) text += " " + std::to_string(item);
    }
    for (const pattern_rule& rule : options.rules)
        text += "\nmin_occ " + std::to_string(rule.min_occ) + " spikes " +
                std::to_string(rule.min_spikes) + ".." + std::to_string(rule.max_spikes) +
                " min_neu " + std::to_string(rule.min_neu);
    return text + "\nmax_occ " + std::to_string(options.max_occ) + " drop subsets " +
           std::to_string(options.drop_window_subsets);
}

void expect_same(const spade_windows& windows, pattern_mining_options options,
                 const pattern_mining_result& expected, int threads) {
    for (const spade_strategy strategy : both_strategies) {
        options.strategy = strategy;
        const pattern_mining_result mined =
            mine_patterns(windows, options, execution{.threads = threads});
        SCOPED_TRACE(std::string(to_string(strategy)) + ", threads " + std::to_string(threads));
        ASSERT_EQ(mined.table, expected.table) << describe(windows, options);
        ASSERT_EQ(mined.summary.closed, expected.summary.closed) << describe(windows, options);
        ASSERT_EQ(mined.summary.window_subsets, expected.summary.window_subsets)
            << describe(windows, options);
        ASSERT_EQ(mined.summary.too_frequent, expected.summary.too_frequent)
            << describe(windows, options);
        ASSERT_EQ(mined.summary.ran_on, strategy);
    }
    for (const spectrum_kind kind : both_kinds)
        ASSERT_EQ(find_occurrence_maxima(windows, options, kind, {.threads = threads}),
                  maxima_of(expected.table, kind))
            << to_string(kind) << "\n"
            << describe(windows, options);
}

// Counts how often cases were of interest, because agreement on empty results proves nothing.
struct coverage {
    std::uint64_t patterns = 0;
    std::uint64_t window_subsets = 0;
    std::uint64_t too_frequent = 0;
    std::uint64_t beyond_max_spikes = 0;

    void add(const brute_force_patterns& truth, pattern_mining_options options,
             const pattern_mining_result& expected) {
        patterns += expected.table.size();
        window_subsets += expected.summary.window_subsets;
        too_frequent += expected.summary.too_frequent;
        for (pattern_rule& rule : options.rules) rule.max_spikes = 0;
        beyond_max_spikes += truth.mine(options).summary.closed - expected.summary.closed;
    }
};

TEST(SpadeProperty, BothStrategiesFindWhatTheDefinitionSaysInBinnedSpikes) {
    const std::size_t cases = property_cases(5'000);
    random_databases draw(20261121);
    coverage seen;
    for (std::size_t i = 0; i < cases; ++i) {
        const std::uint32_t units = 1 + draw.below(5);
        const binned_spikes spikes = draw.spikes(units, 1 + draw.below(18), 60);
        const std::uint32_t window_bins = draw.chance(20) ? 1 : 1 + draw.below(6);
        const pattern_mining_options options = draw.options(units);
        const brute_force_patterns truth(spikes, window_bins);
        const pattern_mining_result expected = truth.mine(options);
        seen.add(truth, options, expected);
        ASSERT_NO_FATAL_FAILURE(expect_same(spade_windows(spikes, window_bins), options, expected,
                                            static_cast<int>(1 + i % 4)))
            << "case " << i;
    }
    // The limits are low enough for the few cases of a run under a sanitizer.
    EXPECT_GT(seen.patterns, cases / 2);
    EXPECT_GT(seen.window_subsets, cases / 20);
    EXPECT_GT(seen.too_frequent, cases / 20);
    EXPECT_GT(seen.beyond_max_spikes, cases / 20);
}

TEST(SpadeProperty, BothStrategiesFindWhatTheDefinitionSaysInGivenWindows) {
    const std::size_t cases = property_cases(3'000);
    random_databases draw(7);
    coverage seen;
    for (std::size_t i = 0; i < cases; ++i) {
        const std::uint32_t units = 1 + draw.below(4);
        const std::uint32_t window_bins = 1 + draw.below(4);
        const auto windows = draw.windows(draw.below(14), units * window_bins, 10 + draw.below(70));
        const pattern_mining_options options = draw.options(units);
        const brute_force_patterns truth(windows, window_bins);
        const pattern_mining_result expected = truth.mine(options);
        seen.add(truth, options, expected);
        ASSERT_NO_FATAL_FAILURE(expect_same(given(windows, units, window_bins), options, expected,
                                            static_cast<int>(1 + i % 4)))
            << "case " << i;
    }
    EXPECT_GT(seen.patterns, cases * 2);
    EXPECT_EQ(seen.window_subsets, 0U);
}

// Databases at the limits of what is allowed, with all small rules.
class SpadeEdges : public ::testing::Test {
protected:
    static void expect_definition(const std::vector<std::set<pattern_item>>& windows,
                                  std::uint32_t units, std::uint32_t window_bins,
                                  std::size_t closed) {
        const brute_force_patterns truth(windows, window_bins);
        EXPECT_EQ(truth.closed_count(), closed);
        for_each_rule([&](const pattern_mining_options& options, int threads) {
            expect_same(given(windows, units, window_bins), options, truth.mine(options), threads);
        });
    }
    static void expect_definition(const binned_spikes& spikes, std::uint32_t window_bins) {
        const brute_force_patterns truth(spikes, window_bins);
        for_each_rule([&](const pattern_mining_options& options, int threads) {
            expect_same(spade_windows(spikes, window_bins), options, truth.mine(options), threads);
        });
    }

private:
    template <class Check>
    static void for_each_rule(Check&& check) {
        for (std::uint32_t min_occ = 1; min_occ < 4; ++min_occ)
            for (std::uint32_t min_spikes = 1; min_spikes < 4; ++min_spikes)
                for (const std::uint32_t max_spikes : {0U, min_spikes})
                    check({.rules = {{min_occ, min_spikes, max_spikes, 1}}},
                          static_cast<int>(min_occ));
    }
};

TEST_F(SpadeEdges, NoWindow) {
    expect_definition({}, 1, 3, 0);
}
TEST_F(SpadeEdges, EmptyWindowsOnly) {
    expect_definition({{}, {}, {}}, 2, 3, 0);
}
TEST_F(SpadeEdges, OneWindow) {
    expect_definition({{0, 4, 5}}, 2, 3, 1);
}
TEST_F(SpadeEdges, IdenticalWindows) {
    expect_definition({{0, 1, 5}, {0, 1, 5}, {0, 1, 5}}, 2, 3, 1);
}
TEST_F(SpadeEdges, IdenticalAndEmptyWindows) {
    expect_definition({{0, 1, 5}, {}, {0, 1, 5}}, 2, 3, 1);
}
TEST_F(SpadeEdges, AnItemInEveryWindow) {
    expect_definition({{0, 1}, {0, 2}, {0, 1, 2}, {0, 5}}, 2, 3, 5);
}
TEST_F(SpadeEdges, NestedWindows) {
    expect_definition({{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}}, 2, 2, 4);
}
TEST_F(SpadeEdges, NothingInTheFirstBin) {
    expect_definition({{1, 2}, {1, 2, 4}}, 2, 3, 2);
}
TEST_F(SpadeEdges, NoSpikes) {
    expect_definition(binned_spikes({0, 0, 0}, {}, 10), 3);
}
TEST_F(SpadeEdges, NoUnits) {
    expect_definition(binned_spikes({0}, {}, 10), 3);
}
TEST_F(SpadeEdges, OneUnit) {
    expect_definition(binned_spikes({0, 6}, {0, 2, 3, 5, 6, 9}, 10), 4);
}
TEST_F(SpadeEdges, UnitsThatNeverFire) {
    expect_definition(binned_spikes({0, 0, 4, 4, 7, 7}, {0, 2, 5, 7, 1, 6, 8}, 10), 3);
}
TEST_F(SpadeEdges, AWindowLongerThanTheRecording) {
    expect_definition(binned_spikes({0, 3, 5}, {0, 2, 4, 1, 3}, 5), 12);
}

// There are too many windows for brute force; the strategies share no code and are compared with
// each other. The number of windows that contain a root decides how the search stores them.
class LargerDatabases : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(LargerDatabases, BothStrategiesFindTheSame) {
    const std::uint32_t bins = GetParam();
    random_databases draw(bins);
    const binned_spikes spikes = draw.spikes(6, bins, 40);
    const spade_windows windows(spikes, 4);
    pattern_mining_options options{.rules = {{.min_occ = std::max(2U, bins / 60), .min_spikes = 2},
                                             {.min_occ = std::max(2U, bins / 90),
                                              .min_spikes = 4,
                                              .max_spikes = 7,
                                              .min_neu = 3}},
                                   .strategy = spade_strategy::fp_growth};
    for (const bool drop : {true, false}) {
        options.drop_window_subsets = drop;
        const pattern_mining_result expected = mine_patterns(windows, options, {.threads = 1});
        EXPECT_GT(expected.table.size(), 50U);
        for (std::size_t i = 0; i < expected.table.size(); ++i)
            ASSERT_EQ(expected.table.occurrences_of(i).size(), expected.table.counts[i]);
        for (const int threads : {1, 2, 4}) expect_same(windows, options, expected, threads);
    }
}

INSTANTIATE_TEST_SUITE_P(Bins, LargerDatabases,
                         ::testing::Values(60, 130, 400, 1'500, 6'000, 20'000));

// One unit fires in nearly every bin, so its windows are nearly all windows.
TEST(SpadeProperty, ARootInThousandsOfWindows) {
    for (const std::uint32_t bins : {70U, 700U, 4'090U, 9'000U}) {
        random_databases draw(bins + 1);
        const binned_spikes sparse = draw.spikes(5, bins, 25);
        std::vector<std::size_t> offsets{0};
        std::vector<std::uint32_t> fired;
        for (std::uint32_t bin = 0; bin < bins; ++bin)
            if (!draw.chance(2)) fired.push_back(bin);
        offsets.push_back(fired.size());
        for (std::uint32_t unit = 0; unit < sparse.unit_count(); ++unit) {
            const auto row = sparse.bins(unit_id{unit});
            fired.insert(fired.end(), row.begin(), row.end());
            offsets.push_back(fired.size());
        }
        const spade_windows windows(binned_spikes(offsets, fired, bins), 3);
        const pattern_mining_options options{
            .rules = {{.min_occ = std::max(2U, bins / 50), .min_spikes = 2}},
            .strategy = spade_strategy::fp_growth};
        const pattern_mining_result expected = mine_patterns(windows, options, {.threads = 1});
        EXPECT_GT(*std::max_element(expected.table.counts.begin(), expected.table.counts.end()),
                  bins * 9 / 10);
        expect_same(windows, options, expected, 2);
    }
}

TEST(SpadeProperty, UnitNumbersDoNotMatter) {
    random_databases draw(5);
    for (int i = 0; i < 20; ++i) {
        const binned_spikes spikes = draw.spikes(5, 200, 20);
        std::vector<std::size_t> offsets{0};
        std::vector<std::uint32_t> fired;
        for (std::uint32_t unit = 5; unit-- > 0;) {
            const auto row = spikes.bins(unit_id{unit});
            fired.insert(fired.end(), row.begin(), row.end());
            offsets.push_back(fired.size());
        }
        const spade_windows windows(spikes, 5);
        const spade_windows turned(binned_spikes(offsets, fired, 200), 5);
        for (const spade_strategy strategy : both_strategies) {
            const pattern_mining_options options{.rules = {{.min_occ = 4, .min_spikes = 3}},
                                                 .strategy = strategy};
            for (const spectrum_kind kind : both_kinds)
                EXPECT_EQ(count_signatures(mine_patterns(windows, options).table, kind),
                          count_signatures(mine_patterns(turned, options).table, kind));
        }
    }
}

}  // namespace
}  // namespace spikeweave
