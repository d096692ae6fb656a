#include "spikeweave/pipeline/compare/spade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "spikeweave/assess/spade/support.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Four units fire one after another, 5 ms apart, so many times.
spike_sequence with_four(std::uint32_t occurrences, std::uint64_t seed, double rate_hz = 15) {
    const std::vector<std::uint32_t> sizes(occurrences > 0 ? 1 : 0, 4);
    return simulate_patterns({.units = 8,
                              .length = 60s,
                              .patterns = sizes,
                              .occurrences = std::max(occurrences, 1U),
                              .rate_hz = rate_hz,
                              .seed = seed})
        .spikes;
}

const named_patterns four{5ms, {{{"n0", 0}, {"n1", 1}, {"n2", 2}, {"n3", 3}}}};
const named_patterns four_and_chance{
    5ms, {four.patterns[0], {{"n4", 0}, {"n5", 2}}, {{"n6", 0}, {"n7", 3}}}};

pattern_comparison_options few_surrogates() {
    return {.permutation = {.permutations = 999, .seed = 1}, .surrogates = 20};
}

pattern_comparison compared_patterns(const spike_sequence& a, const spike_sequence& b,
                                     const named_patterns& given = four_and_chance) {
    return compare_patterns({{std::vector{a}, std::vector{b}}}, given, few_surrogates());
}

TEST(ComparePatterns, FindsWhatChangedAndNothingElse) {
    const pattern_comparison result = compared_patterns(with_four(40, 1), with_four(120, 2));
    EXPECT_EQ(result.samples, sample_kind::blocks);
    EXPECT_EQ(result.conditions[0].samples, 6U);
    ASSERT_EQ(result.findings.size(), 3U);
    const pattern_change& more = result.findings[0];
    EXPECT_EQ(more.what, four.patterns[0]);
    EXPECT_EQ(more.change, change_kind::excess);
    EXPECT_GT(more.rate.ratio.low, 1.5);
    EXPECT_GT(more.rate.ratio.high, 3) << "three times as many were planted";
    EXPECT_GT(more.excess.difference.low, 0);
    for (const std::size_t i : {1U, 2U})
        EXPECT_EQ(result.findings[i].change, change_kind::none) << i;
}

TEST(ComparePatterns, TellsAChangeOfRatesFromOneOfPatterns) {
    const pattern_comparison result = compared_patterns(with_four(0, 3, 10), with_four(0, 4, 20));
    for (const std::size_t i : {1U, 2U}) {
        EXPECT_EQ(result.findings[i].change, change_kind::rate);
        EXPECT_GT(result.findings[i].rate.ratio.low, 1.5);
        EXPECT_GT(result.findings[i].excess_q, 0.05);
    }
}

TEST(ComparePatterns, CountsTheWindowsOfEachBlock) {
    const std::vector<spike_sequence> both{with_four(60, 5), with_four(90, 6)};
    const pattern_comparison result = compared_patterns(both[0], both[1]);
    const spike_sequence& a = both[0];
    for (const std::size_t c : {0U, 1U})
        for (const pattern_change& one : result.findings) {
            pattern_table table{.window_bins = 4};
            std::vector<pattern_item> items;
            for (const auto& [unit, lag] : one.what)
                items.push_back(
                    static_cast<pattern_item>(to_index(a.unit(unit)) * table.window_bins + lag));
            table.append(items, 0);
            std::uint64_t count = 0;
            std::uint64_t first = 0;
            for (int block = 0; block < 6; ++block) {
                const time_span span{10s * block, 10s * (block + 1)};
                const binned_spikes binned =
                    bin_spikes(concatenate_epochs(both[c], {&span, 1}, 0s).spikes, {}).spikes;
                count += count_patterns(binned, table).front();
                first += binned.bins(a.unit(one.what.front().unit)).size();
            }
            EXPECT_EQ(one.counts[c], count);
            EXPECT_EQ(one.first_spikes[c], first);
        }
    EXPECT_GE(result.findings[0].counts[0], 50U);
}

TEST(ComparePatterns, EpochsAreSamples) {
    const spike_sequence spikes = with_four(100, 7);
    std::vector<time_span> even;
    std::vector<time_span> odd;
    for (int i = 0; i < 30; ++i) (i % 2 == 0 ? even : odd).push_back({2s * i, 2s * (i + 1)});
    const pattern_comparison result =
        compare_patterns(conditions_of(spikes, even, odd), four, few_surrogates());
    EXPECT_EQ(result.samples, sample_kind::epochs);
    EXPECT_EQ(result.conditions[1].samples, 15U);
    EXPECT_EQ(result.conditions[0].recordings, 1U);
    EXPECT_EQ(result.findings[0].change, change_kind::none);
    EXPECT_GE(result.findings[0].counts[0] + result.findings[0].counts[1], 90U);
    EXPECT_THROW(conditions_of(spikes, even, even), invalid_argument);
}

TEST(ComparePatterns, DoesNotDependOnTheNumberOfThreads) {
    const spike_sequence a = with_four(40, 8);
    const spike_sequence b = with_four(60, 9);
    pattern_comparison_options one = few_surrogates();
    one.run.threads = 1;
    pattern_comparison_options three = one;
    three.run.threads = 3;
    const auto first = compare_patterns({{std::vector{a}, std::vector{b}}}, four_and_chance, one);
    const auto second =
        compare_patterns({{std::vector{a}, std::vector{b}}}, four_and_chance, three);
    for (std::size_t i = 0; i < first.findings.size(); ++i) {
        EXPECT_EQ(first.findings[i].excess.p, second.findings[i].excess.p);
        EXPECT_EQ(first.findings[i].expected, second.findings[i].expected);
    }
}

TEST(ComparePatterns, LeavesOutPatternsWithoutAUnit) {
    const spike_sequence a = with_four(40, 10);
    std::vector<std::string> rest = a.unit_names();
    std::erase(rest, "n4");
    const spike_sequence b = select_units(with_four(40, 11), rest);
    const pattern_comparison result = compared_patterns(a, b);
    ASSERT_EQ(result.findings.size(), 2U);
    EXPECT_EQ(result.findings[1].what, four_and_chance.patterns[2]);
    EXPECT_TRUE(std::ranges::any_of(result.warnings, [](const std::string& one) {
        return one.find("1 of 3 patterns have a unit") != std::string::npos;
    }));
    EXPECT_THROW(compared_patterns(a, b, {5ms, {four_and_chance.patterns[1]}}), invalid_argument);
}

TEST(ComparePatterns, RefusesWhatCannotBeCompared) {
    const spike_sequence a = with_four(40, 12);
    const spike_sequence b = with_four(40, 13);
    EXPECT_THROW(compared_patterns(a, b, {5ms, {}}), invalid_argument);
    EXPECT_THROW(compared_patterns(a, b, {0ms, four.patterns}), invalid_argument);
    EXPECT_THROW(compared_patterns(a, b, {5ms, {{{"n0", 1}}}}), invalid_argument);
    EXPECT_THROW(compared_patterns(a, b, {5ms, {{{"n0", 0}, {"n1", 100'000}}}}), invalid_argument);
    pattern_comparison_options options = few_surrogates();
    options.surrogates = 0;
    EXPECT_THROW(compare_patterns({{std::vector{a}, std::vector{b}}}, four, options),
                 invalid_argument);
    options = few_surrogates();
    options.block = 30s;
    EXPECT_THROW(compare_patterns({{std::vector{a}, std::vector{b}}}, four, options),
                 invalid_argument);
}

TEST(JoinedPatterns, HaveEachPatternOnce) {
    const named_patterns other{5ms, {{{"n1", 0}, {"n0", 0}}, four.patterns[0]}};
    const named_patterns same{5ms, {{{"n0", 0}, {"n1", 0}}}};
    const named_patterns all = joined_patterns(std::vector{four, other, same});
    EXPECT_EQ(all.bin, 5ms);
    EXPECT_EQ(all.patterns, (std::vector{four.patterns[0], other.patterns[0]}));
    EXPECT_THROW(joined_patterns(std::vector{four, {10ms, four.patterns}}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
