#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/error.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

const std::vector<correction_method>& all_corrections() {
    static const std::vector<correction_method> all{correction_method::none,
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
    return all;
}

std::string letters(const std::vector<bool>& rejected) {
    std::string out;
    for (const bool value : rejected) out += value ? 'T' : 'F';
    return out;
}

std::vector<double> numbers(const std::string& text) {
    std::istringstream in(text);
    std::vector<double> out;
    for (std::string word; in >> word;) out.push_back(std::stod(word));
    return out;
}

TEST(CorrectTests, DecidesTheReferenceVector) {
    const std::vector<double> p{.001, .01, .02, .04, .2};
    const std::vector<std::pair<std::string, std::string>> expected{
        {"bonferroni", "TTFFF"}, {"sidak", "TTFFF"},          {"holm", "TTFFF"},
        {"holm-sidak", "TTFFF"}, {"simes-hochberg", "TTFFF"}, {"hommel", "TTFFF"},
        {"fdr_bh", "TTTTF"},     {"fdr_by", "TFFFF"},         {"fdr_tsbh", "TTTTT"},
        {"fdr_tsbky", "TTTTF"},  {"none", "TTTTF"},           {"no", "TTTTF"}};
    for (const auto& [name, decisions] : expected)
        EXPECT_EQ(letters(correct_tests(p, 5, value_named<correction_method>(name), .05).rejected),
                  decisions)
            << name;
}

// The file is written by tests/golden/make_multiple_testing.py.
TEST(CorrectTests, SaysWhatStatsmodelsSays) {
    std::ifstream in(SPIKEWEAVE_SOURCE_DIR "/tests/golden/multiple_testing.tsv");
    std::size_t rows = 0;
    for (std::string line; std::getline(in, line); ++rows) {
        std::istringstream fields(line);
        std::string method, alpha, p, q, rejected;
        std::getline(fields, method, '\t');
        std::getline(fields, alpha, '\t');
        std::getline(fields, p, '\t');
        std::getline(fields, q, '\t');
        std::getline(fields, rejected, '\t');
        const std::vector<double> listed = numbers(p);
        const std::vector<double> expected = numbers(q);
        const std::vector<double> decisions = numbers(rejected);
        ASSERT_EQ(expected.size(), listed.size());
        ASSERT_EQ(decisions.size(), listed.size());

        const correction_result got = correct_tests(
            listed, listed.size(), value_named<correction_method>(method), std::stod(alpha));

        ASSERT_EQ(got.q.size(), listed.size());
        for (std::size_t i = 0; i < listed.size(); ++i) {
            ASSERT_NEAR(got.q[i], expected[i], 1e-12) << line;
            ASSERT_EQ(got.rejected[i], decisions[i] != 0) << line;
        }
    }
    EXPECT_EQ(rows, 580);
}

TEST(CorrectTests, CountsUnlistedTestsAsPOfOne) {
    std::mt19937_64 random(3);
    const std::size_t cases = property_cases(300);
    for (std::size_t round = 0; round < cases; ++round) {
        std::vector<double> p(1 + random() % 12);
        for (double& value : p) value = static_cast<double>(random() % 200) / 2000;
        const std::size_t unlisted = random() % 6;
        std::vector<double> whole = p;
        whole.resize(p.size() + unlisted, 1.0);
        const double alpha = random() % 5 == 0 ? 1 : static_cast<double>(1 + random() % 99) / 100;
        for (const correction_method method : all_corrections()) {
            const correction_result got = correct_tests(p, whole.size(), method, alpha);
            const correction_result expected = correct_tests(whole, whole.size(), method, alpha);
            for (std::size_t i = 0; i < p.size(); ++i) {
                ASSERT_NEAR(got.q[i], expected.q[i], 1e-14) << to_string(method);
                ASSERT_EQ(got.rejected[i], expected.rejected[i])
                    << to_string(method) << ' ' << alpha << ' ' << p[i] << ' ' << unlisted;
            }
        }
    }
}

TEST(CorrectTests, SumsTheHarmonicSeriesWhereItIsLong) {
    // On both sides of the limit above which the sum is approximated.
    const std::vector<double> p{1e-9};
    const double below = adjust_p_values(p, 1'000'000, correction_method::benjamini_yekutieli)[0];
    const double above = adjust_p_values(p, 1'000'001, correction_method::benjamini_yekutieli)[0];
    EXPECT_NEAR(below, 1e-9 * 1e6 * 14.392726722865724, 1e-13);  // H(10^6)
    EXPECT_NEAR(above - below, 1e-9 * (14.392726722865724 + 1), 1e-13);
}

TEST(CorrectTests, ReadsAndWritesEveryName) {
    for (const correction_method method : all_corrections())
        EXPECT_EQ(value_named<correction_method>(to_string(method)), method);
    EXPECT_EQ(value_named<correction_method>("bh"), correction_method::benjamini_hochberg);
    EXPECT_EQ(value_named<correction_method>("benjamini-hochberg"),
              correction_method::benjamini_hochberg);
    try {
        static_cast<void>(value_named<correction_method>("fdr"));
        ADD_FAILURE();
    } catch (const invalid_argument& error) {
        for (const correction_method method : all_corrections())
            EXPECT_NE(std::string_view(error.what()).find(to_string(method)), std::string::npos);
    }
}

TEST(CorrectTests, RefusesWhatCannotBe) {
    const std::vector<double> p{0.1, 0.2};
    EXPECT_THROW(correct_tests(p, 1, correction_method::holm, 0.05), invalid_argument);
    EXPECT_THROW(correct_tests(std::vector<double>{-0.1}, 1, correction_method::holm, 0.05),
                 invalid_argument);
    for (const double alpha : {0.0, -0.1, 1.1, std::nan("")})
        EXPECT_THROW(correct_tests(p, 2, correction_method::holm, alpha), invalid_argument);
    EXPECT_THROW(adjust_p_values(p, 2, correction_method::two_stage_bh), invalid_argument);
    EXPECT_THROW(adjust_p_values(p, 2, correction_method::two_stage_bky), invalid_argument);
    EXPECT_TRUE(correct_tests({}, 0, correction_method::hommel, 0.05).q.empty());
    EXPECT_TRUE(correct_tests({}, 7, correction_method::two_stage_bky, 0.05).q.empty());
}

}  // namespace
}  // namespace spikeweave
