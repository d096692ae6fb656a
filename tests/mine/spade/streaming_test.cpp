// Tests the memory that a search of many patterns takes, and the estimates before it.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "spikeweave/mine/spade.hpp"
#include "spikeweave/mine/spade/pattern_blocks.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "support/random_patterns.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// There are so few units that one of them begins thousands of patterns with each other item.
spade_windows bursting() {
    const simulated_spikes made = simulate_culture({.channels = 5});
    return {bin_spikes(made.spikes, {.bin = 5ms}).spikes, 6};
}

TEST(MinePatterns, HandsOnPartsOfWhatOneUnitBegins) {
    const spade_windows windows = bursting();
    const pattern_mining_options options{.rules = {{.min_occ = 20, .min_spikes = 3}}};
    for (const int threads : {1, 3}) {
        pattern_blocks joined(windows.window_bins());
        std::size_t largest = 0;
        mine_patterns(windows, options,
                      [&](const pattern_table& block) {
                          largest =
                              std::max(largest, block.items.size() + block.occurrences.size());
                          joined.append(block);
                      },
                      {.threads = threads});
        const pattern_table table = joined.joined();
        EXPECT_GT(table.occurrences.size(), 1'000'000U);
        // With several threads others may wait for the first one.
        if (threads == 1) {
            EXPECT_LT(largest, 80'000U);
        }
        EXPECT_EQ(table, mine_patterns(windows, options).table);
    }
}

TEST(PatternBlocks, AreOneTableInTheEnd) {
    const pattern_table first = random_patterns(1, 500, 20);
    const pattern_table second = random_patterns(2, 300, 20);
    pattern_table expected = first;
    pattern_blocks blocks(20);
    blocks.append(first);
    for (std::size_t i = 0; i < second.size(); ++i) {
        expected.append(second.pattern(i), second.counts[i], second.occurrences_of(i));
        blocks.append(second.pattern(i), second.counts[i], second.occurrences_of(i));
    }
    EXPECT_EQ(blocks.joined(), expected);
    EXPECT_EQ(blocks.joined(), pattern_table{.window_bins = 20});
}

// These are more numbers than one block has.
TEST(PatternBlocks, MayBeMany) {
    std::vector<std::uint32_t> starts(250'000);
    std::iota(starts.begin(), starts.end(), 0U);
    pattern_blocks blocks(20);
    for (std::uint32_t i = 0; i < 40; ++i) blocks.append(std::vector{i, 20 + i}, 250'000, starts);
    const pattern_table table = blocks.joined();
    ASSERT_EQ(table.size(), 40U);
    for (std::uint32_t i = 0; i < 40; ++i) {
        EXPECT_TRUE(std::ranges::equal(table.pattern(i), std::vector{i, 20 + i}));
        EXPECT_TRUE(std::ranges::equal(table.occurrences_of(i), starts));
    }
}

TEST(KeepPatterns, LeavesThoseThatAreNamed) {
    for (const std::size_t step : {1U, 2U, 7U, 1000U}) {
        pattern_table table = random_patterns(3, 400, 20);
        pattern_table expected{.window_bins = 20};
        std::vector<std::size_t> kept;
        for (std::size_t i = step - 1; i < 400; i += step) {
            kept.push_back(i);
            expected.append(table.pattern(i), table.counts[i], table.occurrences_of(i));
        }
        keep_patterns(table, kept);
        EXPECT_EQ(table, expected) << step;
    }
}

// In bursts, nearly all patterns are below a few nodes.
// Candidates of many spikes have few windows and take a fraction of the time of the others, of
// which a sample has too many.
TEST(EstimateMining, IsNearTheTimeOfManyDeepCandidates) {
    const simulated_spikes made = simulate_sym26({.length = 10s});
    const spade_windows windows(bin_spikes(made.spikes, {.bin = 5ms}).spikes, 20);
    std::vector<std::size_t> counts(made.spikes.unit_count());
    for (const unit_id unit : made.spikes.units()) ++counts[to_index(unit)];
    const pattern_mining_options options{.rules = estimate_rules(counts, 10s, 5ms, 20)};
    const execution alone{.threads = 1};
    const std::clock_t began = std::clock();
    mine_patterns(
        windows, options, [](const pattern_table&) {}, alone);
    const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    EXPECT_NEAR(std::log2(estimate_mining(windows, options, alone).seconds), std::log2(seconds), 2);
}

TEST(EstimateMining, IsNearWhatIsFoundInBursts) {
    const spade_windows windows = bursting();
    for (const std::uint32_t min_occ : {12U, 20U, 60U}) {
        const pattern_mining_options options{.rules = {{.min_occ = min_occ, .min_spikes = 3}}};
        std::uint64_t patterns = 0;
        std::uint64_t bytes = 0;
        mine_patterns(windows, options, [&](const pattern_table& block) {
            patterns += block.size();
            bytes += 4 * (block.items.size() + block.occurrences.size()) + 20 * block.size();
        });
        const spade_estimate estimate = estimate_mining(windows, options);
        ASSERT_GT(patterns, 100U);
        EXPECT_NEAR(std::log2(static_cast<double>(estimate.patterns)),
                    std::log2(static_cast<double>(patterns)), 1.2)
            << min_occ;
        EXPECT_NEAR(std::log2(static_cast<double>(estimate.table_bytes)),
                    std::log2(static_cast<double>(bytes)), 1.2)
            << min_occ;
    }
}

}  // namespace
}  // namespace spikeweave
