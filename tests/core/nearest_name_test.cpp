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
    EXPECT_EQ(nearest_name("B1", names), "A1") << "the first of two";
}

TEST(NearestName, IsNoneIfTooMuchDiffers) {
    EXPECT_FALSE(nearest_name("fly", names));
    EXPECT_FALSE(nearest_name("C3", names));
    EXPECT_FALSE(nearest_name("sort", {}));
}

TEST(NearestName, IsSuggested) {
    EXPECT_EQ(did_you_mean(nearest_name("sorts", names)), "; did you mean sort?");
    EXPECT_EQ(did_you_mean({}), "");
}

}  // namespace
}  // namespace spikeweave
