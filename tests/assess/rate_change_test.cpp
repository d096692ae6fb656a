#include "spikeweave/assess/rate_change.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// The tail of the binomial distribution, summed from its definition.
double summed_tail(std::uint64_t least, std::uint64_t of, double success) {
    const auto trials = static_cast<double>(of);
    double tail = 0;
    for (auto k = static_cast<double>(least); k <= trials; ++k) {
        const double ways =
            std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1);
        tail += std::exp(ways + k * std::log(success) + (trials - k) * std::log1p(-success));
    }
    return std::min(tail, 1.0);
}

TEST(RateChange, IsTwiceTheSmallerTail) {
    // 0 and 3 events in equal times: each of 3 events is in the second one with 1/2.
    EXPECT_DOUBLE_EQ(rate_change_p_value({0, 10}, {3, 10}), 0.25);
    // 1 and 3 events in 1 and 2 seconds: 3 or 4 of 4 with 2/3 is 48/81, 0 to 3 of 4 is 65/81.
    EXPECT_DOUBLE_EQ(rate_change_p_value({1, 1}, {3, 2}), 1.0);
    // 5 and 1 events in the same times: 0 or 1 of 6 with 1/2 is 7/64.
    EXPECT_DOUBLE_EQ(rate_change_p_value({5, 7}, {1, 7}), 14.0 / 64);
    EXPECT_EQ(rate_change_p_value({0, 1}, {0, 5}), 1);
}

TEST(RateChange, IsTheSumOfBinomialProbabilities) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 300; ++round) {
        const event_count a{random() % 60, 1.0 + static_cast<double>(random() % 100)};
        const event_count b{random() % 60, 1.0 + static_cast<double>(random() % 100)};
        const double share = b.seconds / (a.seconds + b.seconds);
        const double high = summed_tail(b.events, a.events + b.events, share);
        const double low = summed_tail(a.events, a.events + b.events, 1 - share);

        const double p = rate_change_p_value(a, b);

        EXPECT_NEAR(p, std::min(1.0, 2 * std::min(high, low)), 1e-10 * p);
        EXPECT_DOUBLE_EQ(p, rate_change_p_value(b, a));
    }
}

TEST(RateChange, IsRarelySmallForEqualRates) {
    std::mt19937_64 random(2);
    std::poisson_distribution<std::uint64_t> in_short(20);
    std::poisson_distribution<std::uint64_t> in_long(60);
    constexpr int rounds = 4000;
    int rejected = 0;
    for (int round = 0; round < rounds; ++round)
        if (rate_change_p_value({in_short(random), 100}, {in_long(random), 300}) <= 0.05)
            ++rejected;

    EXPECT_LE(rejected, 0.05 * rounds + 3 * std::sqrt(0.05 * 0.95 * rounds));
    EXPECT_GE(rejected, 0.02 * rounds);  // it is not so careful that it finds nothing
}

TEST(RateChange, OfVeryDifferentRatesIsZero) {
    EXPECT_EQ(rate_change_p_value({1'000'000, 1000}, {10, 1000}), 0);
    EXPECT_LT(rate_change_p_value({1'000'000, 1000}, {1'010'000, 1000}), 1e-11);
}

TEST(RateChange, IsAsSmallAsADoubleCanBe) {
    // The logarithm of twice the sum of (1106 over k) / 2^1106 for k from 1075, in 50 digits.
    EXPECT_NEAR(std::log(rate_change_p_value({31, 1800}, {1075, 1800})), -627.1513458861386, 1e-9);
}

TEST(RateChange, NeedsTimes) {
    for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(rate_change_p_value({1, seconds}, {1, 1}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
