#include "sort/templates/coincidences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace spikeweave::templates {
namespace {

TEST(CountPairs, CountsBothOrdersAndBothEnds) {
    const std::vector<std::int64_t> a{100, 200};
    const std::vector<std::int64_t> b{90, 95, 100, 105, 110, 207};
    EXPECT_EQ(count_pairs(a, b, 0, 0), 1U);
    EXPECT_EQ(count_pairs(a, b, 0, 10), 6U);
    EXPECT_EQ(count_pairs(a, b, 5, 10), 5U);
    EXPECT_EQ(count_pairs(a, b, 6, 9), 1U);
    EXPECT_EQ(count_pairs(a, {}, 0, 10), 0U);
}

TEST(ExpectedPairs, IsTheMeanOfIndependentUnits) {
    std::mt19937_64 random(3);
    constexpr std::int64_t length = 3000;
    constexpr std::int64_t least = 4;
    constexpr std::int64_t most = 9;
    double found = 0;
    constexpr int trials = 2000;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<std::int64_t> a;
        std::vector<std::int64_t> b;
        for (std::int64_t f = 0; f < length; ++f) {
            if (random() % 50 == 0) a.push_back(f);
            if (random() % 30 == 0) b.push_back(f);
        }
        found += static_cast<double>(count_pairs(a, b, least, most)) / trials;
    }
    const double expected = expected_pairs(60, 100, least, most, length);
    EXPECT_DOUBLE_EQ(expected, 60.0 * 100 * 12 / 3000);
    // The standard error is about 0.12, and the ends of the recording take 0.2 %.
    EXPECT_NEAR(found, expected, 0.7);
}

TEST(FireIndependently, TellsANeuronFromTwo) {
    EXPECT_FALSE(fire_independently(0, 10));
    EXPECT_FALSE(fire_independently(6, 10));
    EXPECT_TRUE(fire_independently(7, 10));
    EXPECT_FALSE(fire_independently(1, 0.1));
}

}  // namespace
}  // namespace spikeweave::templates
