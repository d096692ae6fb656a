#include "spikeweave/elephant/relation.hpp"

#include <gtest/gtest.h>

#include <array>

#include "spikeweave/core/error.hpp"
#include "spikeweave/elephant/mining.hpp"

namespace spikeweave {
namespace {

using numbers = std::vector<std::uint32_t>;
using begins = std::vector<std::uint64_t>;

// Three windows over three spikes: the first two hold spikes 0 and 1, the last spikes 1 and 2.
constexpr std::array cells{true, true, false, true, true, false, false, true, true};

elephant_relation relation() {
    return {cells, 3, 3};
}

TEST(ElephantRelation, ListsTheWindowsOfEachPattern) {
    const elephant_extents found = relation().extents(begins{0, 2, 3, 5}, numbers{0, 1, 1, 0, 2});
    EXPECT_EQ(found.begins, (begins{0, 2, 5, 5}));
    EXPECT_EQ(found.rows, (numbers{0, 1, 0, 1, 2}));
}

TEST(ElephantRelation, RefusesASpikeWithoutAColumn) {
    EXPECT_THROW(static_cast<void>(relation().extents(begins{0, 1}, numbers{3})), invalid_argument);
}

TEST(ElephantRelation, CountsTheSubsetsThatKeepTheOtherSide) {
    // Only {0} and {0, 1} are in exactly windows 0 and 1; {} is in all of them.
    EXPECT_EQ(relation().count_all(numbers{0, 1}, numbers{0, 1}, true), 2U);
    // Windows {0}, {1} and {0, 1} share spikes 0 and 1; no window at all shares every spike.
    EXPECT_EQ(relation().count_all(numbers{0, 1}, numbers{0, 1}, false), 3U);
    EXPECT_EQ(
        relation().count_given(numbers{0, 1}, numbers{0, 1}, true, begins{0, 1, 2}, numbers{0, 1}),
        1U);
}

TEST(ElephantRelation, DoesNotCountASubsetOfOneThatFailed) {
    // {0, 1} fails first, so {1} is not looked at although it would succeed.
    EXPECT_EQ(relation().count_given(numbers{0, 1}, numbers{0, 1, 2}, true, begins{0, 2, 3},
                                     numbers{0, 1, 1}),
              0U);
}

TEST(ElephantSubsetFilter, DropsAPatternThatEndsALongerOneWithAsManyOccurrences) {
    // In windows of 5 bins: spikes of units 0, 1 and 2 in bins 0, 1 and 2, and the last two of
    // them from bin 0 on.
    const numbers items{0, 6, 12, 5, 11};
    EXPECT_EQ(drop_window_subsets(begins{0, 3, 5}, items, numbers{4, 4}, 5), (begins{0}));
    EXPECT_EQ(drop_window_subsets(begins{0, 3, 5}, items, numbers{4, 7}, 5), (begins{0, 1}));
    EXPECT_THROW(static_cast<void>(drop_window_subsets(begins{0, 3}, items, numbers{4}, 0)),
                 invalid_argument);
}

}  // namespace
}  // namespace spikeweave
