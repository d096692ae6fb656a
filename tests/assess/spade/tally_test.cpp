#include "spikeweave/assess/spade/tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/random_patterns.hpp"

namespace spikeweave {
namespace {

constexpr std::uint32_t window = 4;

TEST(PatternTally, CountsSignaturesAndKeepsTheLargest) {
    for (const spectrum_kind kind :
         {spectrum_kind::size_count, spectrum_kind::size_count_duration}) {
        pattern_tally tally(window, kind, 5);
        const pattern_table table = random_patterns(3, 1000, window);
        for (std::size_t i = 0; i < table.size(); i += 10) {
            pattern_table block{.window_bins = window};
            for (std::size_t k = i; k < i + 10; ++k)
                block.append(table.pattern(k), table.counts[k]);
            tally.take(block);
        }

        EXPECT_EQ(tally.patterns(), 1000U);
        EXPECT_EQ(tally.signatures(), count_signatures(table, kind));
        std::vector<std::size_t> order(table.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, [&](auto x, auto y) {
            return std::pair(table.pattern(x).size(), table.counts[x]) >
                   std::pair(table.pattern(y).size(), table.counts[y]);
        });
        std::vector<std::uint64_t> expected;
        for (std::size_t k = 0; k < 5; ++k) expected.push_back(order[k] + 1);
        std::ranges::sort(expected);
        EXPECT_EQ(tally.best_numbers(), expected);
        for (std::size_t k = 0; k < 5; ++k)
            EXPECT_TRUE(
                std::ranges::equal(tally.best().pattern(k), table.pattern(expected[k] - 1)));
    }
}

TEST(PatternTally, CountsWhatIsFarTooLargeForAFlatArray) {
    pattern_tally tally(window, spectrum_kind::size_count_duration, 0);
    pattern_table block{.window_bins = window};
    const std::vector<pattern_item> small{pattern_item{0}, pattern_item{window + 3}};
    const std::vector<pattern_item> long_one(100, pattern_item{0});
    block.append(small, 4'000'000'000U);
    block.append(long_one, 2);
    block.append(small, 2);
    tally.take(block);

    EXPECT_EQ(tally.signatures(), count_signatures(block, spectrum_kind::size_count_duration));
    EXPECT_TRUE(tally.best().empty());
}

}  // namespace
}  // namespace spikeweave
