#include "spikeweave/assess/surrogate_numbers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

TEST(SurrogateNumbers, AreOneLessWhereAlphaItselfIsSignificant) {
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 0.01, .rule = level_rule::below}), 100U);
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 0.01, .rule = level_rule::at_most}), 99U);
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 0.05, .rule = level_rule::below}), 20U);
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 0.05, .rule = level_rule::at_most}), 19U);
    // 1 / 0.03 is no whole number, so no p is alpha.
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 0.03, .rule = level_rule::below}), 33U);
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 0.03, .rule = level_rule::at_most}), 33U);
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 1, .rule = level_rule::at_most}), 1U);
}

TEST(SurrogateNumbers, AreEnoughForOneOfManyTests) {
    for (const correction_method correction :
         {correction_method::bonferroni, correction_method::holm,
          correction_method::benjamini_hochberg})
        EXPECT_EQ(fewest_surrogates(8, {0.0625, correction, level_rule::at_most}), 127U);
    EXPECT_EQ(fewest_surrogates(8, {0.0625, correction_method::bonferroni}), 128U);
    EXPECT_EQ(fewest_surrogates(1, {.alpha = 1e-300}), std::uint64_t{1} << 53U);
}

// Corrects the smallest p as the tests do, with 1 for all others.
bool is_enough(std::uint64_t surrogates, std::size_t tests, const test_level& level) {
    std::vector<double> p(tests, 1);
    p[0] = 1 / (1 + static_cast<double>(surrogates));
    const correction_result corrected = correct_tests(p, tests, level.correction, level.alpha);
    return level.rule == level_rule::below ? corrected.q[0] < level.alpha : corrected.rejected[0];
}

TEST(SurrogateNumbers, AreTheSmallestThatAreEnough) {
    constexpr std::array methods{correction_method::none,
                                 correction_method::bonferroni,
                                 correction_method::sidak,
                                 correction_method::holm_sidak,
                                 correction_method::holm,
                                 correction_method::simes_hochberg,
                                 correction_method::hommel,
                                 correction_method::benjamini_hochberg,
                                 correction_method::benjamini_yekutieli,
                                 correction_method::two_stage_bh,
                                 correction_method::two_stage_bky};
    for (std::uint64_t seed = 0; seed < property_cases(400); ++seed) {
        random_streams random(seed);
        const std::size_t tests = 1 + random.below(12);
        const test_level level{static_cast<double>(1 + random.below(20)) / 100,
                               methods[random.below(methods.size())],
                               random.below(2) == 0 ? level_rule::below : level_rule::at_most};
        const std::uint64_t enough = fewest_surrogates(tests, level);
        EXPECT_TRUE(is_enough(enough, tests, level)) << seed;
        EXPECT_FALSE(enough > 1 && is_enough(enough - 1, tests, level)) << seed;
        EXPECT_TRUE(can_be_significant(enough, tests, level));
    }
}

TEST(SurrogateNumbers, WarnOfWhatCannotBeSignificant) {
    const test_level below{.alpha = 0.05, .correction = correction_method::bonferroni};
    EXPECT_EQ(
        warn_of_few_surrogates(19, below),
        "With 19 surrogates nothing can be significant at alpha 0.05: no p is below 0.05. Use "
        "at least 20.");
    EXPECT_EQ(warn_of_few_surrogates(20, below), std::nullopt);
    EXPECT_EQ(
        warn_of_many_tests("count", 199, 10, below),
        "No count is significant, and with 199 surrogates no single one of the 10 tested could "
        "be: 200 would be enough for any one of them.");
    EXPECT_EQ(warn_of_many_tests("count", 200, 10, below), std::nullopt);
    EXPECT_EQ(warn_of_many_tests("count", 19, 10, below), std::nullopt);
    EXPECT_EQ(warn_of_many_tests("count", 199, 0, below), std::nullopt);
}

TEST(SurrogateNumbers, NeedAnAlpha) {
    EXPECT_THROW(can_be_significant(9, 1, {.alpha = 0}), invalid_argument);
    EXPECT_THROW(can_be_significant(9, 0, {}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
