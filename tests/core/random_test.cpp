#include "spikeweave/core/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace spikeweave {
namespace {

TEST(RandomStream, IsTheSameOnEveryMachine) {
    random_stream stream(42, random_purpose::poisson_spikes, 7, 3);
    EXPECT_EQ(stream.next_u32(), 2290221712U);
    // The sixth word is in the second block.
    for (int i = 0; i < 4; ++i) stream.next_u32();
    EXPECT_EQ(stream.next_u32(), 981152816U);
}

TEST(RandomStream, DiffersInEveryPartOfItsKey) {
    std::set<std::uint64_t> first;
    first.insert(random_stream(1, random_purpose::poisson_spikes, 0, 0).next_u64());
    first.insert(
        random_stream(std::uint64_t{1} << 32, random_purpose::poisson_spikes, 0, 0).next_u64());
    first.insert(random_stream(1, random_purpose::culture_spikes, 0, 0).next_u64());
    first.insert(random_stream(1, random_purpose::poisson_spikes, 1, 0).next_u64());
    first.insert(random_stream(1, random_purpose::poisson_spikes, 0, 1).next_u64());
    EXPECT_EQ(first.size(), 5U);
}

TEST(RandomStream, UniformNumbersHaveTheMomentsOfTheUniformDistribution) {
    random_stream stream(3, random_purpose::poisson_spikes, 0);
    constexpr int n = 200'000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < n; ++i) {
        const double x = stream.uniform();
        ASSERT_GE(x, 0.0);
        ASSERT_LT(x, 1.0);
        sum += x;
        squares += x * x;
    }
    EXPECT_NEAR(sum / n, 0.5, 4 * 0.2887 / std::sqrt(n));
    EXPECT_NEAR(squares / n, 1.0 / 3, 4 * 0.2981 / std::sqrt(n));
}

TEST(RandomStream, ExponentialNumbersHaveTheRightTail) {
    random_stream stream(4, random_purpose::poisson_spikes, 0);
    constexpr int n = 200'000;
    double sum = 0;
    int above_one = 0;
    int above_three = 0;
    for (int i = 0; i < n; ++i) {
        const double x = stream.exponential();
        ASSERT_GE(x, 0.0);
        sum += x;
        above_one += x > 1 ? 1 : 0;
        above_three += x > 3 ? 1 : 0;
    }
    EXPECT_NEAR(sum / n, 1, 4 / std::sqrt(n));
    EXPECT_NEAR(above_one, n * std::exp(-1), 4 * std::sqrt(n * std::exp(-1)));
    EXPECT_NEAR(above_three, n * std::exp(-3), 4 * std::sqrt(n * std::exp(-3)));
}

TEST(RandomStream, BoundedNumbersReachEveryValueEquallyOften) {
    random_stream stream(5, random_purpose::poisson_spikes, 0);
    std::array<int, 6> seen{};
    for (int i = 0; i < 60'000; ++i) ++seen.at(stream.below(6));
    for (const int n : seen) EXPECT_NEAR(n, 10'000, 4 * std::sqrt(10'000 * 5.0 / 6));
}

}  // namespace
}  // namespace spikeweave
