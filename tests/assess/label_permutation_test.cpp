#include "spikeweave/assess/label_permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// The statistic from its definition: the ratios, then the residuals of each condition.
double difference_in_errors(const std::vector<ratio_sample>& samples,
                            const std::vector<bool>& is_b) {
    double ratio[2]{};
    double variance[2]{};
    for (const bool condition : {false, true}) {
        double amount = 0;
        double per = 0;
        double n = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (is_b[i] != condition) continue;
            amount += samples[i].amount;
            per += samples[i].per;
            ++n;
        }
        ratio[condition] = amount / per;
        double residuals = 0;
        for (std::size_t i = 0; i < samples.size(); ++i)
            if (is_b[i] == condition)
                residuals += std::pow(samples[i].amount - ratio[condition] * samples[i].per, 2);
        variance[condition] = residuals * n / (n - 1) / (per * per);
    }
    return std::abs(ratio[1] - ratio[0]) / std::sqrt(variance[0] + variance[1]);
}

double p_of_all_labellings(const std::vector<ratio_sample>& samples, std::size_t samples_a) {
    std::vector<bool> is_b(samples.size(), true);
    std::fill_n(is_b.begin(), samples_a, false);
    const double observed = difference_in_errors(samples, is_b);
    double reached = 0;
    double all = 0;
    do {
        reached += difference_in_errors(samples, is_b) >= observed * (1 - 1e-9) ? 1 : 0;
        ++all;
    } while (std::next_permutation(is_b.begin(), is_b.end()));
    return reached / all;
}

std::vector<ratio_sample> random_samples(std::size_t n, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::poisson_distribution<int> counts(6);
    std::uniform_real_distribution<double> lengths(5, 10);
    std::vector<ratio_sample> out;
    for (std::size_t i = 0; i < n; ++i)
        out.push_back({static_cast<double>(counts(random)), lengths(random)});
    return out;
}

TEST(CompareRatios, GivesThePOfAllLabellings) {
    for (const std::size_t samples_a : {2U, 3U, 4U, 5U})
        for (std::uint32_t seed = 0; seed < 20; ++seed) {
            const auto samples = random_samples(8, seed);
            const auto found = compare_ratios({&samples, 1}, samples_a);
            EXPECT_DOUBLE_EQ(found[0].p, p_of_all_labellings(samples, samples_a))
                << samples_a << " of seed " << seed;
        }
}

TEST(CompareRatios, EstimatesThatPWithRandomLabellings) {
    const auto samples = random_samples(20, 3);
    const auto exact = compare_ratios({&samples, 1}, 10, {.permutations = 184'756});
    const auto drawn = compare_ratios({&samples, 1}, 10, {.permutations = 20'000, .seed = 7});
    EXPECT_NEAR(drawn[0].p, exact[0].p, 0.015);
    EXPECT_NE(drawn[0].p, exact[0].p);
}

// With divisors of 1, the ratios are means and the interval is that of Welch's test
// (scipy.stats.t with 2.9412 degrees of freedom, 3.4845 for the logarithms).
TEST(CompareRatios, HasTheIntervalsOfWelch) {
    const std::vector<ratio_sample> samples{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {6, 1}, {8, 1}};
    const ratio_change found = compare_ratios({&samples, 1}, 3)[0];
    EXPECT_DOUBLE_EQ(found.a, 2);
    EXPECT_DOUBLE_EQ(found.b, 6);
    EXPECT_DOUBLE_EQ(found.difference.value, 4);
    EXPECT_NEAR(found.difference.high - 4, 4.1553995, 1e-4);
    EXPECT_NEAR(4 - found.difference.low, 4.1553995, 1e-4);
    EXPECT_DOUBLE_EQ(found.ratio.value, 3);
    EXPECT_NEAR(found.ratio.low, 1.0794530, 1e-4);
    EXPECT_NEAR(found.ratio.high, 8.3375562, 1e-3);
}

TEST(CompareRatios, TellsConditionsApartThatShareNothing) {
    std::vector<ratio_sample> samples(4, {0, 10});
    samples.insert(samples.end(), 4, {5, 10});
    const ratio_change found = compare_ratios({&samples, 1}, 4)[0];
    EXPECT_DOUBLE_EQ(found.p, 2.0 / 70);
    EXPECT_TRUE(std::isnan(found.ratio.value));
    EXPECT_DOUBLE_EQ(found.difference.value, 0.5);
}

TEST(CompareRatios, FindsNoChangeWhereNothingOccurs) {
    const std::vector<ratio_sample> samples(8, {0, 10});
    EXPECT_EQ(compare_ratios({&samples, 1}, 4)[0].p, 1);
}

TEST(CompareRatios, DoesNotTestWhatOneConditionDoesNotHave) {
    std::vector<ratio_sample> samples(4, {0, 0});
    samples.insert(samples.end(), 4, {5, 10});
    const ratio_change found = compare_ratios({&samples, 1}, 4)[0];
    EXPECT_EQ(found.p, 1);
    EXPECT_TRUE(std::isnan(found.a));
    EXPECT_TRUE(std::isnan(found.difference.low));
}

TEST(CompareRatios, KeepsItsLevel) {
    std::vector<std::vector<ratio_sample>> quantities;
    for (std::uint32_t seed = 0; seed < 1'000; ++seed)
        quantities.push_back(random_samples(16, seed));
    const auto below = std::ranges::count_if(compare_ratios(quantities, 6, {.permutations = 999}),
                                             [](const ratio_change& one) { return one.p <= 0.05; });
    // 50 are expected; the standard deviation is 7.
    EXPECT_GT(below, 29);
    EXPECT_LT(below, 71);
}

TEST(CompareRatios, DoesNotDependOnThreads) {
    std::vector<std::vector<ratio_sample>> quantities;
    for (std::uint32_t seed = 0; seed < 20; ++seed) quantities.push_back(random_samples(30, seed));
    const permutation_options how{.permutations = 500, .seed = 5};
    const auto one = compare_ratios(quantities, 12, how, {.threads = 1});
    const auto four = compare_ratios(quantities, 12, how, {.threads = 4});
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].p, four[i].p);
}

TEST(PermutationsOf, SaysTheSmallestP) {
    EXPECT_TRUE(permutations_of(4, 4).exact);
    EXPECT_EQ(permutations_of(4, 4).number, 70U);
    EXPECT_DOUBLE_EQ(permutations_of(4, 4).smallest_p, 2.0 / 70);
    EXPECT_DOUBLE_EQ(permutations_of(3, 5).smallest_p, 1.0 / 56);
    EXPECT_FALSE(permutations_of(12, 12, {.permutations = 999}).exact);
    EXPECT_DOUBLE_EQ(permutations_of(12, 12, {.permutations = 999}).smallest_p, 1e-3);
    EXPECT_FALSE(permutations_of(500, 500).exact);
}

TEST(PermutationsOf, RefusesWhatCannotBe) {
    EXPECT_THROW(permutations_of(1, 8), invalid_argument);
    EXPECT_THROW(permutations_of(4, 4, {.permutations = 0}), invalid_argument);
    EXPECT_THROW(permutations_of(4, 4, {.confidence = 1}), invalid_argument);
    const std::vector<std::vector<ratio_sample>> uneven{random_samples(8, 1), random_samples(7, 1)};
    EXPECT_THROW(compare_ratios(uneven, 4), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
