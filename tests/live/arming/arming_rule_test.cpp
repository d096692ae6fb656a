#include "live/arming/arming_rule.hpp"

#include <gtest/gtest.h>

namespace spikeweave::live {
namespace {

episode chain_of(std::vector<std::uint32_t> units) {
    episode what;
    for (const std::uint32_t unit : units) what.units.push_back(unit_id{unit});
    what.delays.assign(units.size() - 1, {duration{0}, duration{5}});
    return what;
}

const episode first_step = chain_of({0, 1}), second_step = chain_of({1, 2});

TEST(ArmingRule, AsksForEnoughOfTheLastWindows) {
    arming_rule rule({.arm_after = 2, .arm_windows = 3});
    const std::vector<episode> none;

    EXPECT_EQ(rule.add({first_step}), none);
    EXPECT_EQ(rule.add({second_step}), none);
    EXPECT_EQ(rule.add({first_step}), std::vector{first_step});
    EXPECT_EQ(rule.add({}), none) << "of the second step, the first one and nothing";
    EXPECT_EQ(rule.add({first_step}), std::vector{first_step});
}

TEST(ArmingRule, DecidesByWindowsThatDoNotOverlap) {
    const auto decides = [](std::int64_t begin, const episode_window_options& windows) {
        return decides_arming({.begin = duration{begin}, .end = duration{begin} + windows.length},
                              windows);
    };
    const episode_window_options sliding{.length = duration{10}, .hop = duration{5}};
    const episode_window_options tumbling{.length = duration{10}};
    const episode_window_options with_gaps{.length = duration{10}, .hop = duration{15}};

    EXPECT_TRUE(decides(-20, sliding));
    EXPECT_FALSE(decides(-15, sliding));
    EXPECT_TRUE(decides(30, tumbling));
    EXPECT_TRUE(decides(15, with_gaps));
    EXPECT_EQ(due_after({.begin = duration{10}, .end = duration{20}}, sliding), 25);
    EXPECT_EQ(due_after({.begin = duration{10}, .end = duration{20}}, tumbling), 30);
    EXPECT_EQ(due_after({.end = duration{INT64_MAX - 3}}, tumbling), INT64_MAX);
}

}  // namespace
}  // namespace spikeweave::live
