#include "spikeweave/assess/spade/stability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "assess/spade/subset_share.hpp"
#include "spikeweave/core/error.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/threads_as_ranks.hpp"

namespace spikeweave {

using assess::share_outside;
using assess::subset_family;

namespace {

using items_of = std::vector<pattern_item>;

spade_windows windows_of(const std::vector<items_of>& rows, std::size_t units,
                         std::uint32_t window_bins) {
    std::vector<std::size_t> offsets{0};
    items_of items;
    for (const items_of& row : rows) {
        items.insert(items.end(), row.begin(), row.end());
        offsets.push_back(items.size());
    }
    return {std::move(offsets), std::move(items), units, window_bins};
}

bool holds(const items_of& row, const items_of& part) {
    return std::includes(row.begin(), row.end(), part.begin(), part.end());
}

void append(pattern_table& table, items_of items, const std::vector<std::uint32_t>& places) {
    std::sort(items.begin(), items.end(), [&](pattern_item a, pattern_item b) {
        return std::pair(a % table.window_bins, a) < std::pair(b % table.window_bins, b);
    });
    table.append(items, static_cast<std::uint32_t>(places.size()), places);
}

// Makes the patterns of random windows: the intersections of windows with all windows that contain
// them.
pattern_table closed_patterns(std::mt19937_64& random, const std::vector<items_of>& rows,
                              std::uint32_t window_bins) {
    pattern_table table;
    table.window_bins = window_bins;
    std::set<items_of> known;
    for (int round = 0; round < 12; ++round) {
        items_of common = rows[random() % rows.size()];
        for (std::uint64_t more = random() % 4; more > 0; --more) {
            const items_of& row = rows[random() % rows.size()];
            items_of both;
            std::set_intersection(common.begin(), common.end(), row.begin(), row.end(),
                                  std::back_inserter(both));
            common = both;
        }
        if (common.empty() || !known.insert(common).second) continue;
        std::vector<std::uint32_t> places;
        for (std::uint32_t w = 0; w < rows.size(); ++w)
            if (holds(rows[w], common)) places.push_back(w);
        append(table, common, places);
    }
    return table;
}

std::vector<items_of> random_rows(std::mt19937_64& random, std::size_t items, std::size_t most) {
    std::vector<items_of> rows(1 + random() % most);
    const std::uint64_t density = 2 + random() % 7;
    for (items_of& row : rows) {
        for (pattern_item item = 0; item < items; ++item)
            if (random() % 10 < density) row.push_back(item);
        if (row.empty()) row.push_back(static_cast<pattern_item>(random() % items));
    }
    return rows;
}

// Looks up every subset in every window.
stability by_enumeration(const std::vector<items_of>& rows, std::size_t universe,
                         const pattern_table& table, std::size_t pattern) {
    items_of items(table.pattern(pattern).begin(), table.pattern(pattern).end());
    std::sort(items.begin(), items.end());
    const auto places = table.occurrences_of(pattern);
    double spikes = 0;
    for (std::uint64_t subset = 0; subset < std::uint64_t{1} << items.size(); ++subset) {
        items_of part;
        for (std::size_t k = 0; k < items.size(); ++k)
            if ((subset >> k & 1U) != 0) part.push_back(items[k]);
        const auto found = std::count_if(rows.begin(), rows.end(),
                                         [&](const items_of& row) { return holds(row, part); });
        spikes += static_cast<std::size_t>(found) == places.size() ? 1 : 0;
    }
    double occurrences = 0;
    for (std::uint64_t subset = 0; subset < std::uint64_t{1} << places.size(); ++subset) {
        std::size_t common = 0;
        for (pattern_item item = 0; item < universe; ++item) {
            bool in_all = true;
            for (std::size_t k = 0; k < places.size(); ++k)
                if ((subset >> k & 1U) != 0 && !holds(rows[places[k]], {item})) in_all = false;
            common += in_all ? 1 : 0;
        }
        occurrences += common == items.size() ? 1 : 0;
    }
    return {spikes / std::exp2(items.size()), occurrences / std::exp2(places.size())};
}

TEST(ApproximateStability, GivesTheValuesWorkedByHand) {
    // {0, 2} is in windows 0 and 1, 0 alone also in window 2; window 1 also has 1.
    const std::vector<items_of> rows{{0, 2}, {0, 1, 2}, {0, 3}};
    pattern_table table;
    append(table, {0, 2}, {0, 1});
    append(table, {0}, {0, 1, 2});
    const auto values = approximate_stability(windows_of(rows, 4, 1), table, {.n_subsets = 1000});
    // {0, 2} and {2} of four; of the windows {0} and {0, 1}, since window 1 also has 1.
    EXPECT_EQ(values[0], (stability{2. / 4, 2. / 4}));
    // {} and {0} of two, as every window has 0; of eight {0, 2}, {1, 2} and all three.
    EXPECT_EQ(values[1], (stability{2. / 2, 3. / 8}));
}

TEST(ApproximateStability, IsExactWhereAllSubsetsCanBeTaken) {
    std::mt19937_64 random(5);
    const std::size_t cases = property_cases(150);
    for (std::size_t round = 0; round < cases; ++round) {
        const std::size_t units = 1 + random() % 4;
        const auto bins = static_cast<std::uint32_t>(1 + random() % 2);
        const auto rows = random_rows(random, units * bins, 8);
        const pattern_table table = closed_patterns(random, rows, bins);
        const auto values =
            approximate_stability(windows_of(rows, units, bins), table, {.n_subsets = 256});
        ASSERT_EQ(values.size(), table.size());
        for (std::size_t i = 0; i < table.size(); ++i)
            ASSERT_EQ(values[i], by_enumeration(rows, units * bins, table, i));
    }
}

template <class T>
std::vector<T> numbers(const std::string& text) {
    std::istringstream in(text);
    std::vector<T> out;
    for (std::string word; std::getline(in, word, ',');)
        out.push_back(static_cast<T>(std::stod(word)));
    return out;
}

// The file is written by tests/golden/make_stability.py.
TEST(ApproximateStability, SaysWhatElephantSays) {
    std::ifstream in(SPIKEWEAVE_SOURCE_DIR "/tests/golden/stability.tsv");
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line); ++lines) {
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, '\t');) fields.push_back(field);
        ASSERT_EQ(fields.size(), 7);
        const auto units = static_cast<std::size_t>(std::stoul(fields[0]));
        pattern_table table;
        table.window_bins = static_cast<std::uint32_t>(std::stoul(fields[1]));
        std::vector<items_of> rows;
        std::istringstream windows(fields[2]);
        for (std::string word; windows >> word;) rows.push_back(numbers<pattern_item>(word));
        append(table, numbers<pattern_item>(fields[3]), numbers<std::uint32_t>(fields[4]));

        const auto values = approximate_stability(windows_of(rows, units, table.window_bins), table,
                                                  {.n_subsets = 1U << 13U});

        EXPECT_EQ(values[0], (stability{std::stod(fields[5]), std::stod(fields[6])})) << line;
    }
    EXPECT_EQ(lines, 174);
}

TEST(ApproximateStability, TakesStartBinsOfWindowsFromBins) {
    // Windows at bins 3, 4 and 9, one bin long: {0, 1}, {0}, {0, 1}.
    const binned_spikes spikes({0, 3, 5}, {3, 4, 9, 3, 9}, 10);
    pattern_table table;
    append(table, {0, 1}, {3, 9});
    // {1} and {0, 1}; of the windows every subset, as the empty one has no other items, either.
    EXPECT_EQ(approximate_stability(spade_windows(spikes, 1), table, {.n_subsets = 4}),
              (std::vector<stability>{{0.5, 1}}));
}

TEST(ShareOutside, DrawsDistinctSubsetsThatAreAllButOne) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        subset_family hit(5);
        std::mt19937_64 random(seed);
        for (std::uint64_t n = random() % 4; n > 0; --n) {
            hit.add_empty();
            for (std::size_t k = 0; k < 5; ++k)
                if (random() % 2 == 0) hit.put(k);
        }
        const random_stream stream(seed, random_purpose::pattern_subsets, 0);
        const double all = share_outside(hit, 32, stream);
        const double most = share_outside(hit, 31, stream);
        const double outside = std::round(all * 32);
        EXPECT_EQ(all, outside / 32);
        // The subset that was left out was either outside or not.
        EXPECT_TRUE(most == outside / 31 || most == (outside - 1) / 31) << all << ' ' << most;
    }
}

TEST(ShareOutside, IsUnbiasedForMoreThanAWordOfElements) {
    // A set with one of the last two elements is not within {0, ..., n - 1}.
    for (const std::size_t elements : {40U, 64U, 65U, 130U}) {
        subset_family hit(elements);
        hit.add_empty();
        for (std::size_t k = 0; k + 2 < elements; ++k) hit.put(k);
        const double share =
            share_outside(hit, 20'000, {elements, random_purpose::pattern_subsets, 0});
        EXPECT_NEAR(share, 0.75, 5 * std::sqrt(0.75 * 0.25 / 20'000)) << elements;
        subset_family all(elements);
        all.add_empty();
        for (std::size_t k = 0; k < elements; ++k) all.put(k);
        EXPECT_EQ(share_outside(all, 100, {1, random_purpose::pattern_subsets, 0}), 0);
        EXPECT_EQ(
            share_outside(subset_family(elements), 100, {1, random_purpose::pattern_subsets, 0}),
            1);
    }
}

TEST(ShareOutside, LosesNothingWhenSubsetsAreReduced) {
    std::mt19937_64 random(8);
    for (int round = 0; round < 50; ++round) {
        const std::size_t elements = 1 + random() % 10;
        std::vector<std::uint64_t> sets(random() % 300);
        subset_family hit(elements);
        for (std::uint64_t& set : sets) {
            set = random() & random() & ((std::uint64_t{1} << elements) - 1);
            hit.add_empty();
            for (std::size_t k = 0; k < elements; ++k)
                if ((set >> k & 1U) != 0) hit.put(k);
        }
        double outside = 0;
        for (std::uint64_t part = 0; part < std::uint64_t{1} << elements; ++part)
            outside += std::none_of(sets.begin(), sets.end(),
                                    [&](std::uint64_t set) { return (part & ~set) == 0; })
                           ? 1
                           : 0;
        EXPECT_EQ(share_outside(hit, 1024, {1, random_purpose::pattern_subsets, 0}),
                  outside / std::exp2(elements));
    }
}

TEST(ShareOutside, KeepsSubsetsNoneOfWhichIsWithinAnother) {
    // All 792 subsets of five of twelve elements: larger subsets are outside.
    subset_family hit(12);
    double more = 0;
    for (unsigned set = 0; set < 1U << 12U; ++set) {
        const int size = std::popcount(set);
        more += size > 5 ? 1 : 0;
        if (size != 5) continue;
        hit.add_empty();
        for (std::size_t k = 0; k < 12; ++k)
            if ((set >> k & 1U) != 0) hit.put(k);
    }
    EXPECT_EQ(share_outside(hit, 4096, {1, random_purpose::pattern_subsets, 0}), more / 4096);
}

TEST(ShareOutside, StopsWhenItIsAsked) {
    std::stop_source asked;
    asked.request_stop();
    // All subsets, distinct ones, and arbitrary ones.
    for (const std::size_t elements : {12U, 40U, 130U})
        EXPECT_THROW(share_outside(subset_family(elements), 5000,
                                   {1, random_purpose::pattern_subsets, 0}, asked.get_token()),
                     cancelled)
            << elements;
}

struct large_case {
    spade_windows windows;
    pattern_table table;
};

// Makes patterns of up to 14 spikes and 80 occurrences.
large_case make_large() {
    std::mt19937_64 random(21);
    std::vector<items_of> rows(120);
    for (items_of& row : rows)
        for (pattern_item item = 0; item < 60; ++item)
            if (item < 14 ? random() % 10 < 9 : random() % 3 == 0) row.push_back(item);
    pattern_table table = closed_patterns(random, rows, 3);
    return {windows_of(rows, 20, 3), std::move(table)};
}

TEST(ApproximateStability, IsTheSameForAnyThreadsAndRanks) {
    const auto made = make_large();
    ASSERT_GT(made.table.size(), 5);
    const auto stabilities = [&](const stability_options& options, const execution& run) {
        return approximate_stability(made.windows, made.table, options, run);
    };
    const stability_options options{.n_subsets = 300, .seed = 4};
    const auto expected = stabilities(options, {.threads = 1});
    for (const int threads : {2, 4})
        EXPECT_EQ(stabilities(options, {.threads = threads}), expected);
    for (const int ranks : {1, 2, 3, 20})
        threads_as_ranks::run(ranks, [&](int, std::shared_ptr<communicator> all) {
            EXPECT_EQ(stabilities(options, {.threads = 1, .ranks = std::move(all)}), expected);
        });
    EXPECT_NE(stabilities({.n_subsets = 300, .seed = 5}, {}), expected);
}

TEST(ApproximateStability, KeepsItsPromiseOfDeltaAndEpsilon) {
    const auto [windows, table] = make_large();
    const auto exact = approximate_stability(windows, table, {.n_subsets = 1U << 14U});
    const double epsilon = 0.05;
    std::size_t off = 0;
    std::size_t values = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto drawn =
            approximate_stability(windows, table, {.delta = 0.1, .epsilon = epsilon, .seed = seed});
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (table.pattern(i).size() > 14) continue;
            ++values;
            off += std::abs(drawn[i].intensional - exact[i].intensional) > epsilon ? 1 : 0;
        }
    }
    ASSERT_GT(values, 60);
    EXPECT_LE(static_cast<double>(off), 0.1 * static_cast<double>(values));
}

TEST(SubsetCount, FollowsDeltaAndEpsilon) {
    EXPECT_EQ(subset_count({.n_subsets = 7, .delta = 0.1, .epsilon = 0.1}), 7);
    EXPECT_EQ(subset_count({.delta = 0.1, .epsilon = 0.1}), 151);     // 149.79 + 1
    EXPECT_EQ(subset_count({.delta = 0.05, .epsilon = 0.02}), 4612);  // 4611.1 + 1
    EXPECT_THROW(subset_count({}), invalid_argument);
    EXPECT_THROW(subset_count({.delta = 0.1}), invalid_argument);
    EXPECT_THROW(subset_count({.epsilon = 0.1}), invalid_argument);
    EXPECT_THROW(subset_count({.delta = -1, .epsilon = 0.1}), invalid_argument);
    EXPECT_THROW(subset_count({.delta = 0.1, .epsilon = 1e-9}), invalid_argument);
    EXPECT_EQ(subset_count({.n_subsets = 10'000'000}), 10'000'000);
    EXPECT_THROW(subset_count({.n_subsets = 10'000'001}), invalid_argument);
}

TEST(FilterStable, KeepsWhatIsAboveEitherThreshold) {
    const std::vector<stability> values{{.1, .1}, {.2, .1}, {.1, .3}, {.2, .3}};
    EXPECT_EQ(filter_stable(values, {.1, .1}), (std::vector<std::size_t>{1, 2, 3}));
    EXPECT_EQ(filter_stable(values, {.2, .2}), (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(filter_stable(values, {1, 1}), (std::vector<std::size_t>{}));
}

TEST(ApproximateStability, RefusesWhatDoesNotBelongTogether) {
    const spade_windows windows = windows_of({{0, 2}, {0, 1}}, 3, 1);
    pattern_table table;
    append(table, {0}, {0, 7});
    EXPECT_THROW(approximate_stability(windows, table, {.n_subsets = 9}), invalid_argument);
    pattern_table foreign;
    append(foreign, {5}, {0, 1});
    EXPECT_THROW(approximate_stability(windows, foreign, {.n_subsets = 9}), invalid_argument);
    pattern_table wide;
    wide.window_bins = 2;
    EXPECT_THROW(approximate_stability(windows, wide, {.n_subsets = 9}), invalid_argument);
    pattern_table bare;
    bare.append(items_of{0}, 2);
    EXPECT_THROW(approximate_stability(windows, bare, {.n_subsets = 9}), invalid_argument);
    EXPECT_TRUE(approximate_stability(windows, {}, {.n_subsets = 9}).empty());
}

}  // namespace
}  // namespace spikeweave
