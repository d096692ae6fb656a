#include <gtest/gtest.h>

#include "spikeweave/live/run.hpp"

namespace spikeweave {
namespace {

TEST(LossWarnings, SayWhatWasLostAndByWhichOptions) {
    EXPECT_TRUE(loss_warnings({.spikes = 5, .windows = 3}).empty());

    const auto source = loss_warnings({.late = 2, .missing = 1'234});
    ASSERT_EQ(source.size(), 1U);
    EXPECT_EQ(source[0], "1,234 messages were lost, 0 were unreadable, 2 spikes were late");

    const auto windows = loss_warnings({.incomplete = 4, .late_changes = 1, .untested = 6});
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_NE(windows[0].find("the search of 4 ended early"), std::string::npos);
    EXPECT_NE(windows[0].find("`window_budget`, `max_memory`"), std::string::npos);
    EXPECT_NE(windows[1].find("6 windows could not be tested"), std::string::npos);
    EXPECT_NE(windows[2].find("1 times what was armed changed later"), std::string::npos);
}

}  // namespace
}  // namespace spikeweave
