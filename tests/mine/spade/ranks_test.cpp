// Mining and testing on several ranks give the same results as one process.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/mine/spade.hpp"
#include "support/on_ranks.hpp"
#include "support/ranks.hpp"

namespace spikeweave {
namespace {

constexpr std::uint32_t small_window = 6;
constexpr std::uint32_t units = 8;

binned_spikes random_spikes(std::uint32_t bins, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::size_t> offsets{0};
    std::vector<std::uint32_t> fired;
    for (std::uint32_t unit = 0; unit < units; ++unit) {
        for (std::uint32_t bin = 0; bin < bins; ++bin)
            if (random() % 5 == 0) fired.push_back(bin);
        offsets.push_back(fired.size());
    }
    return {std::move(offsets), std::move(fired), bins};
}

pattern_mining_options options_of(spade_strategy strategy, bool with_occurrences) {
    return {.rules = {{.min_occ = 12, .min_spikes = 2}, {.min_occ = 4, .min_spikes = 4}},
            .max_occ = 16,
            .with_occurrences = with_occurrences,
            .strategy = strategy};
}

void expect_same(const pattern_mining_result& found, const pattern_mining_result& expected) {
    EXPECT_EQ(found.table, expected.table);
    EXPECT_EQ(found.summary.closed, expected.summary.closed);
    EXPECT_EQ(found.summary.window_subsets, expected.summary.window_subsets);
    EXPECT_EQ(found.summary.too_frequent, expected.summary.too_frequent);
    EXPECT_EQ(found.summary.ran_on, expected.summary.ran_on);
}

void expect_same(const signature_test_result& found, const signature_test_result& expected) {
    EXPECT_EQ(found.not_significant, expected.not_significant);
    ASSERT_EQ(found.signatures.size(), expected.signatures.size());
    for (std::size_t i = 0; i < found.signatures.size(); ++i) {
        EXPECT_EQ(found.signatures[i].what, expected.signatures[i].what);
        EXPECT_EQ(found.signatures[i].patterns, expected.signatures[i].patterns);
        EXPECT_EQ(found.signatures[i].q, expected.signatures[i].q);
        EXPECT_EQ(found.signatures[i].significant, expected.signatures[i].significant);
    }
}

class SpadeOnRanks : public testing::TestWithParam<spade_strategy> {
protected:
    void SetUp() override { SPIKEWEAVE_NEEDS_RANKS(); }
};

INSTANTIATE_TEST_SUITE_P(Every, SpadeOnRanks,
                         testing::Values(spade_strategy::fp_growth, spade_strategy::first_bin),
                         [](const auto& param) {
                             return param.param == spade_strategy::fp_growth ? "fp_growth"
                                                                             : "first_bin";
                         });

TEST_P(SpadeOnRanks, FindsWhatOneProcessFinds) {
    const spade_windows windows(random_spikes(400, 1), small_window);
    for (const bool with_occurrences : {true, false}) {
        const pattern_mining_options options = options_of(GetParam(), with_occurrences);
        const pattern_mining_result expected = mine_patterns(windows, options, {.threads = 1});
        ASSERT_GT(expected.table.size(), 500U);
        ASSERT_GT(expected.summary.too_frequent, 0U);
        for (const int threads : {1, 2})
            on_ranks([&](int rank, std::shared_ptr<communicator> all) {
                const pattern_mining_result found =
                    mine_patterns(windows, options, {.threads = threads, .ranks = std::move(all)});
                if (rank == 0)
                    expect_same(found, expected);
                else
                    EXPECT_TRUE(found.table.empty()) << "only rank 0 is handed patterns";
            });
    }
}

TEST_P(SpadeOnRanks, FindsNothingWhereThereIsNothing) {
    const spade_windows windows(random_spikes(0, 1), small_window);
    on_ranks([&](int, std::shared_ptr<communicator> all) {
        EXPECT_TRUE(mine_patterns(windows, options_of(GetParam(), true), {.ranks = std::move(all)})
                        .table.empty());
    });
}

// Does what the command does: count, test, and collect the significant patterns.
TEST_P(SpadeOnRanks, TestsAsOneProcessDoes) {
    const binned_spikes spikes = random_spikes(200, 2);
    const spade_windows windows(spikes, small_window);
    const pattern_mining_options options = options_of(GetParam(), false);
    constexpr std::uint32_t surrogates = 17;
    for (const spectrum_kind kind :
         {spectrum_kind::size_count, spectrum_kind::size_count_duration}) {
        const auto assess = [&](const execution& run) {
            const std::vector<signature_count> found =
                count_signatures(mine_patterns(windows, options, run).table, kind);
            return test_patterns(
                found, [](std::uint32_t which) { return random_spikes(200, 100 + which); },
                surrogates, small_window, options, kind, {.alpha = 0.2}, run);
        };
        const pattern_test_result expected = assess({.threads = 1});
        ASSERT_FALSE(expected.spectrum.entries.empty());
        ASSERT_FALSE(expected.tests.signatures.empty());
        on_ranks([&](int rank, std::shared_ptr<communicator> all) {
            const pattern_test_result found = assess({.threads = 2, .ranks = std::move(all)});
            EXPECT_EQ(found.spectrum, expected.spectrum) << "on every rank";
            if (rank > 0) return;
            expect_same(found.tests, expected.tests);
        });
    }
}

}  // namespace
}  // namespace spikeweave
