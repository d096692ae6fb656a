#include <gtest/gtest.h>

#include "spikeweave/live/run.hpp"

namespace spikeweave {
namespace {

TEST(LossWarnings, SayWhatWasLostAndByWhichOptions) {
    EXPECT_TRUE(loss_warnings({.spikes = 5, .windows = 3}).empty());

    const auto source = loss_warnings({.late = 2, .missing = 1'234, .unreadable = 1});
    ASSERT_EQ(source.size(), 1U);
    EXPECT_EQ(source[0], "1,234 messages were lost, 1 was unreadable, 2 spikes were late");

    const auto windows = loss_warnings({.incomplete = 4, .late_changes = 1, .untested = 6});
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_NE(windows[0].find("the search of 4 ended early"), std::string::npos);
    EXPECT_NE(windows[0].find("`window_budget`, `max_memory`"), std::string::npos);
    EXPECT_NE(windows[1].find("6 windows could not be tested"), std::string::npos);
    EXPECT_NE(windows[2].find("what was armed changed 1 time later"), std::string::npos);
}

TEST(Summarize, IsASentenceInTheSingularAndPlural) {
    EXPECT_EQ(summarize({.units = 1, .spikes = 1, .detections = 1, .triggers = 1}),
              "1 trigger in 1 spike of 1 unit.");
    EXPECT_EQ(
        summarize({.units = 26,
                   .spikes = 51'444,
                   .detections = 3,
                   .triggers = 2,
                   .windows = 11,
                   .monitored = 2}),
        "2 triggers and 1 suppressed detection in 51,444 spikes of 26 units; 2 episodes monitored; "
        "11 windows.");
    EXPECT_EQ(summarize({.units = 2, .monitored = 1, .patterns = 1}),
              "0 triggers in 0 spikes of 2 units; 1 pattern monitored.");
    EXPECT_EQ(summarize({.units = 2, .monitored = 3, .patterns = 2}),
              "0 triggers in 0 spikes of 2 units; 1 episode and 2 patterns monitored.");
}

}  // namespace
}  // namespace spikeweave
