#include "spikeweave/elephant/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using items = std::vector<pattern_item>;

spade_windows windows_of(const std::vector<items>& each, std::size_t units,
                         std::uint32_t window_bins = 1) {
    std::vector<std::size_t> offsets{0};
    items all;
    for (const items& window : each) {
        all.insert(all.end(), window.begin(), window.end());
        offsets.push_back(all.size());
    }
    return {std::move(offsets), std::move(all), units, window_bins};
}

// Mines, and lists patterns in Elephant's order.
std::vector<items> listed(const spade_windows& windows, const pattern_rule& rule) {
    const pattern_table table =
        mine_patterns(windows, {.rules = {rule}, .drop_window_subsets = false}).table;
    const elephant_order order = order_as_elephant(windows, table, rule);
    std::vector<items> out;
    for (const std::size_t i : order.patterns) {
        const auto pattern = table.pattern(i);
        out.emplace_back(pattern.begin(), pattern.end());
        std::ranges::sort(out.back(), [&](pattern_item a, pattern_item b) {
            return order.ranks[a] > order.ranks[b];
        });
    }
    return out;
}

// All expected lists are those of Elephant 1.2.1.
TEST(OrderAsElephant, PutsRareItemsFirstAndAPatternBehindThoseItBegins) {
    const spade_windows windows = windows_of({{0, 1}, {0, 1, 2}, {0, 2}, {3}}, 4);

    EXPECT_EQ(listed(windows, {.min_occ = 2, .min_spikes = 1}),
              (std::vector<items>{{1, 0}, {2, 0}, {0}}));
}

TEST(OrderAsElephant, RanksByTheWindowsThatAreLongEnough) {
    const spade_windows windows = windows_of({{1}, {1}, {0, 1}, {0, 1}, {0, 2}, {0, 2}}, 3);

    EXPECT_EQ(listed(windows, {.min_occ = 2, .min_spikes = 1}),
              (std::vector<items>{{2, 0}, {0, 1}, {0}, {1}}));
    EXPECT_EQ(listed(windows, {.min_occ = 2, .min_spikes = 2}),
              (std::vector<items>{{1, 0}, {2, 0}}));
}

TEST(OrderAsElephant, TakesTheSmallerOfEquallyFrequentItemsForTheRarer) {
    EXPECT_EQ(
        listed(windows_of({{0, 1, 2}, {0, 1, 2}, {0, 1}, {3}}, 4), {.min_occ = 2, .min_spikes = 1}),
        (std::vector<items>{{2, 0, 1}, {0, 1}}));
}

TEST(OrderAsElephant, PutsFewOccurrencesFirstUnlessWindowsAreOneBin) {
    const std::vector<items> each{{0}, {0}, {0}, {2, 4}, {2, 4}, {2}, {2}, {4}, {4}, {4}};

    EXPECT_EQ(listed(windows_of(each, 5), {.min_occ = 2, .min_spikes = 1}),
              (std::vector<items>{{0}, {2, 4}, {2}, {4}}));
    EXPECT_EQ(listed(windows_of(each, 3, 2), {.min_occ = 2, .min_spikes = 1}),
              (std::vector<items>{{2, 4}, {0}, {2}, {4}}));
}

TEST(OrderAsElephant, LetsTheItemsOfIdenticalWindowsAscend) {
    EXPECT_EQ(listed(windows_of({{0, 2, 3}, {0, 2, 3}}, 4), {}), (std::vector<items>{{0, 2, 3}}));
}

TEST(OrderAsElephant, RefusesPatternsOfOtherWindows) {
    const spade_windows windows = windows_of({{0, 1}, {0, 1}}, 2);
    pattern_table foreign;
    foreign.append(items{0, 7}, 2);

    EXPECT_THROW(order_as_elephant(windows, foreign, {}), invalid_argument);
    EXPECT_THROW(order_as_elephant(windows, {.window_bins = 2}, {}), invalid_argument);
    EXPECT_TRUE(order_as_elephant(windows, {}, {}).patterns.empty());
}

}  // namespace
}  // namespace spikeweave
