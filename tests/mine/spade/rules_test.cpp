#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/shared_data.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using thresholds = std::vector<std::uint32_t>;

// Returns the thresholds up to and including the first that equals `least`.
thresholds estimated(const std::vector<pattern_rule>& rules, std::uint32_t least = 10) {
    thresholds out;
    for (const pattern_rule& rule : rules) {
        out.push_back(rule.min_occ);
        if (rule.min_occ <= least) break;
    }
    return out;
}

std::vector<std::size_t> benchmark_counts() {
    const spike_trains trains(read_spikes(shared_data("spade/movement_pghf.spikes.tsv.gz")).spikes);
    std::vector<std::size_t> counts;
    for (std::uint32_t u = 0; u < trains.unit_count(); ++u)
        counts.push_back(trains.count(unit_id{u}));
    return counts;
}

// The set-up of Porrmann et al. 2021; gaps in the file make it longer than the recording was.
thresholds of_benchmark(const min_occ_options& recipe, std::uint32_t window_bins = 20) {
    return estimated(estimate_rules(benchmark_counts(), 22'320ms, 5ms, window_bins, recipe),
                     recipe.least_occ);
}

// The expected values are those of the published formula with scipy 1.17.1's binom.isf.
TEST(PatternRule, IsDescribed) {
    pattern_rule rule;
    const option_list thresholds = describe(rule);
    std::uint64_t value = 10;
    for (const option& one : thresholds) one.set(value++);
    EXPECT_EQ(rule,
              (pattern_rule{.min_occ = 10, .min_spikes = 11, .max_spikes = 12, .min_neu = 13}));
    EXPECT_THROW(thresholds.find("min_neu").set(std::uint64_t{1} << 32U), invalid_argument);
}

TEST(EstimateRules, GivesThePublishedThresholdsOfTheBenchmark) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("spade/movement_pghf.spikes.tsv.gz");
    EXPECT_EQ(of_benchmark({.rate_percentile = 50}), (thresholds{25, 10}));
    EXPECT_EQ(of_benchmark({.rate_percentile = 75}), (thresholds{47, 14, 10}));
    EXPECT_EQ(of_benchmark({.rate_percentile = 90}), (thresholds{86, 25, 12, 10}));
    EXPECT_EQ(of_benchmark({.rate_percentile = 95}), (thresholds{142, 42, 19, 10}));
    EXPECT_EQ(of_benchmark({}, 12), (thresholds{84, 24, 11, 10}));
    EXPECT_EQ(of_benchmark({.poisson_percentile = 50}), (thresholds{83, 24, 12, 10}));
    EXPECT_EQ(of_benchmark({.poisson_percentile = 99}), (thresholds{88, 26, 13, 10}));
}

TEST(EstimateRules, SharesThePublishedThresholdOfUnitsThatFireAlike) {
    EXPECT_EQ(estimated(estimate_rules(std::vector<std::size_t>(10, 2'000), 20s, 5ms, 20)),
              (thresholds{1142, 625, 352, 206, 126, 80, 54, 37, 27}));
    // 0.9 spikes a bin.
    EXPECT_EQ(estimated(estimate_rules(std::vector<std::size_t>(20, 3'600), 20s, 5ms, 20,
                                       {.most_spikes = 8})),
              (thresholds{3370, 3086, 2826, 2588, 2371, 2172, 1980}));
}

TEST(EstimateRules, MakesOneRuleASizeWithTheLastForAllAbove) {
    const std::vector<std::size_t> counts(10, 400);
    const auto rules = estimate_rules(counts, 20s, 5ms, 20, {.least_spikes = 3, .most_spikes = 6});

    ASSERT_EQ(rules.size(), 4U);
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(rules[i].min_spikes, 3 + i);
        EXPECT_EQ(rules[i].min_neu, 3 + i);
        EXPECT_EQ(rules[i].max_spikes, i < 3 ? 3 + i : 0);
        EXPECT_GE(rules[i].min_occ, 10U);
    }
    EXPECT_EQ(rules[2].min_occ, 10U);
    EXPECT_EQ(rules[3].min_occ, 10U);
}

// Implements the definition differently: the smallest k that is exceeded with at most this
// probability. If 1 - q rounds to 1, scipy 1.17.1 returns n, and the rule for over-corrected sizes
// uses the correction of the size before.
TEST(EstimateRules, IsExactInTailsThatAreTiny) {
    constexpr std::uint32_t window = 20;
    constexpr std::size_t units = 150;
    const auto tests_of = [](std::uint32_t z) {
        double tests = 1;
        for (std::uint32_t i = 0; i <= z; ++i) tests *= window - i;
        for (std::uint32_t i = 0; i < z; ++i) tests *= static_cast<double>(units - i) / (i + 1.0);
        return tests;
    };
    std::size_t over_corrected = 0;
    for (const double percentile : {5.0, 95.0, 99.999, 99.9999999}) {
        const auto rules =
            estimate_rules(std::vector<std::size_t>(units, 430), 22'320ms, 5ms, window,
                           {.poisson_percentile = percentile, .least_occ = 1, .most_spikes = 9});
        for (const pattern_rule& rule : rules) {
            const std::uint32_t z = rule.min_spikes;
            const boost::math::binomial chance(4464, std::pow(430 / 22.32 * 0.005, z));
            double q = (1 - percentile / 100) / tests_of(z);
            if (z > 2 && 1 - q == 1) {
                q = (1 - percentile / 100) / tests_of(z - 1);
                ++over_corrected;
            }
            EXPECT_LE(cdf(complement(chance, rule.min_occ)), q) << z;
            EXPECT_GT(cdf(complement(chance, rule.min_occ - 1.0)), q) << z;
        }
    }
    EXPECT_GT(over_corrected, 8U);
}

TEST(EstimateRules, LeavesOutSizesThatThereAreNoUnitsFor) {
    const auto rules = estimate_rules(std::vector<std::size_t>{3'000, 0, 3'000, 0}, 20s, 5ms, 20);

    ASSERT_EQ(rules.size(), 9U);
    EXPECT_GT(rules[0].min_occ, 10U);
    for (std::size_t i = 1; i < rules.size(); ++i) EXPECT_EQ(rules[i].min_occ, 10U) << i;
}

TEST(EstimateRules, NamesTheOptionThatIsOutOfRange) {
    const auto field_refused = [](const min_occ_options& recipe) {
        try {
            estimate_rules(std::vector<std::size_t>{100, 100, 100}, 20s, 5ms, 20, recipe);
        } catch (const invalid_argument& error) {
            return error.field();
        }
        return std::string();
    };
    EXPECT_EQ(field_refused({.rate_percentile = -1}), "rate_percentile");
    EXPECT_EQ(field_refused({.poisson_percentile = 100}), "poisson_percentile");
    EXPECT_EQ(field_refused({.least_occ = 0}), "least_occ");
    EXPECT_EQ(field_refused({.least_spikes = 0}), "least_spikes");
    EXPECT_EQ(field_refused({}), "");
    pattern_rule rule{.min_occ = 0};
    EXPECT_THROW(describe(rule).check(), invalid_argument);
}

TEST(EstimateRules, RefusesWhatItCannotEstimate) {
    const std::vector<std::size_t> counts(20, 1'000);
    EXPECT_THROW(estimate_rules(std::vector<std::size_t>(3), 20s, 5ms, 20), invalid_argument);
    EXPECT_THROW(estimate_rules({}, 20s, 5ms, 20), invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 4ms, 5ms, 20), invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 20s, 0ms, 20), invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 20s, 5ms, 2), invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 20s, 50ms, 20), invalid_argument);  // 2.5 spikes a bin
    // Patterns of three spikes need a window of more than three bins.
    EXPECT_THROW(estimate_rules(counts, 20s, 5ms, 3), invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 20s, 5ms, 20, {.rate_percentile = 101}), invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 20s, 5ms, 20, {.poisson_percentile = 100}),
                 invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 20s, 5ms, 20, {.least_occ = 0}), invalid_argument);
    EXPECT_THROW(estimate_rules(counts, 20s, 5ms, 20, {.least_spikes = 4, .most_spikes = 3}),
                 invalid_argument);
}

}  // namespace
}  // namespace spikeweave
