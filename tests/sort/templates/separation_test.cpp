#include "sort/templates/separation.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace spikeweave::templates {
namespace {

constexpr Eigen::Index count = 2000;

// Normal points; those of the second half are `apart` away in the first dimension.
Eigen::MatrixXd two_groups(double apart, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    Eigen::MatrixXd out(count, 5);
    for (Eigen::Index n = 0; n < count; ++n)
        for (Eigen::Index f = 0; f < 5; ++f) {
            double normal = -6;
            for (int i = 0; i < 12; ++i) normal += static_cast<double>(random() >> 11) * 0x1p-53;
            out(n, f) = normal + (f == 0 && n >= count / 2 ? apart : 0);
        }
    return out;
}

std::vector<char> sides_by(const Eigen::VectorXd& values, double border) {
    std::vector<char> out;
    for (Eigen::Index n = 0; n < values.size(); ++n) out.push_back(values[n] > border ? 1 : 0);
    return out;
}

TEST(DistanceOfSides, IsThatOfACutGaussianAndOfAUniform) {
    const Eigen::MatrixXd one = two_groups(0);
    EXPECT_NEAR(distance_of_sides(one, sides_by(one.col(0), 0)), 2.65, 0.1);
    Eigen::MatrixXd uniform(count, 1);
    for (Eigen::Index n = 0; n < count; ++n) uniform(n, 0) = static_cast<double>(n);
    EXPECT_NEAR(distance_of_sides(uniform, sides_by(uniform.col(0), count / 2.0)), 3.46, 0.02);
}

TEST(Separate, FindsTwoGroups) {
    const separation found = separate(two_groups(7), 20);
    EXPECT_NEAR(found.distance, 7, 0.3);
    ASSERT_EQ(found.side.size(), static_cast<std::size_t>(count));
    int wrong = 0;
    for (Eigen::Index n = 0; n < count; ++n)
        wrong += (found.side[static_cast<std::size_t>(n)] == found.side[0]) != (n < count / 2);
    EXPECT_LE(wrong, 8);
}

TEST(Separate, FindsNoneInOneGroup) {
    for (std::uint64_t seed = 0; seed < 5; ++seed)
        EXPECT_LT(separate(two_groups(0, seed), 20).distance, 4) << "seed " << seed;
}

TEST(Separate, NeedsEnoughSpikesOnBothSides) {
    EXPECT_EQ(separate(two_groups(7).topRows(30), 20).distance, 0);
    EXPECT_EQ(separate(two_groups(7).leftCols(0), 20).distance, 0);
}

}  // namespace
}  // namespace spikeweave::templates
