#include "spikeweave/core/nearest_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace spikeweave {
namespace {

const std::vector<std::string> names{"episodes", "spade", "sort", "A1", "B2"};

TEST(NearestName, IsTheOneWithTheFewestEdits) {
    EXPECT_EQ(nearest_name("epsiodes", names), "episodes");
    EXPECT_EQ(nearest_name("spad", names), "spade");
    EXPECT_EQ(nearest_name("sorts", names), "sort");
    EXPECT_EQ(nearest_name("CA1-3", std::vector<std::string>{"CA1-1", "CA1-2"}), "CA1-1");
}

TEST(NearestName, IsTheSameInAnotherCase) {
    EXPECT_EQ(nearest_name("a1", names), "A1");
    EXPECT_EQ(nearest_name("SORT", std::vector<std::string>{"sorts", "sort"}), "sort");
}

TEST(NearestName, IsNoneIfTooMuchDiffers) {
    EXPECT_FALSE(nearest_name("fly", names));
    EXPECT_FALSE(nearest_name("C1", names));
    EXPECT_FALSE(nearest_name("1234", std::vector<std::string>{"1235"}));
    EXPECT_FALSE(nearest_name("sort", {}));
}

TEST(NearestName, IsSuggested) {
    EXPECT_EQ(did_you_mean(nearest_name("sorts", names)), "; did you mean sort?");
    EXPECT_EQ(did_you_mean({}), "");
}

}  // namespace
}  // namespace spikeweave
