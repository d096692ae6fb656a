#include "spikeweave/core/time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, KnowsTheUnitsOfTheField) {
    EXPECT_EQ(parse_duration("5ms"), 5ms);
    EXPECT_EQ(parse_duration(" 0.25 s "), 250ms);
    EXPECT_EQ(parse_duration("40us"), 40us);
    EXPECT_EQ(parse_duration("40µs"), 40us);
    EXPECT_EQ(parse_duration("5000ns"), 5us);
    EXPECT_EQ(parse_duration("-1000.0 ns"), -1us);
    EXPECT_EQ(parse_duration("2min"), 120s);
    EXPECT_EQ(parse_duration("1.5h"), 90min);
    EXPECT_EQ(parse_duration("-3ms"), -3ms);
    EXPECT_EQ(parse_duration("0"), 0ms);
}

TEST(ParseDuration, IsExactInDecimals) {
    EXPECT_EQ(parse_duration("0.3ms"), 300us);
    EXPECT_EQ(parse_duration("1.001ms"), 1001us);
    EXPECT_EQ(parse_duration("4397.002300s").count(), 4397002300);
}

TEST(ParseDuration, RefusesWhatItWouldHaveToGuess) {
    for (const char* text : {"5", "", "ms", "5 parsecs", "0.5us", "500ns", "1e3ms", "nan s", "5ms5",
                             "99999999999999999999s", "9999999999999h"})
        EXPECT_THROW(parse_duration(text), invalid_argument) << text;
}

TEST(DurationFromSeconds, RoundsToTheMicrosecondAndRefusesWhatIsNotATime) {
    EXPECT_EQ(duration_from_seconds(0.06012).count(), 60120);
    EXPECT_EQ(duration_from_seconds(-1.5e-6).count(), -2);
    EXPECT_THROW(duration_from_seconds(std::nan("")), invalid_argument);
    EXPECT_THROW(duration_from_seconds(std::numeric_limits<double>::infinity()), invalid_argument);
    EXPECT_THROW(duration_from_seconds(1e300), invalid_argument);
}

TEST(FormatDuration, IsShortAndReadsBack) {
    EXPECT_EQ(format_duration(5ms), "5 ms");
    EXPECT_EQ(format_duration(1500us), "1.5 ms");
    EXPECT_EQ(format_duration(40us), "40 us");
    EXPECT_EQ(format_duration(90s), "90 s");
    EXPECT_EQ(parse_duration(format_duration(1234567us)), 1234567us);
}

TEST(FormatRoughTime, HasAUnitThatFits) {
    constexpr double hour = 3600, year = 31'557'600;
    EXPECT_EQ(format_rough_time(3.2), "3 s");
    EXPECT_EQ(format_rough_time(130), "2 min 10 s");
    EXPECT_EQ(format_rough_time(30 * hour), "30 h 0 min");
    EXPECT_EQ(format_rough_time(100 * hour), "4 days");
    EXPECT_EQ(format_rough_time(1234.5 * year), "1,234 years");
    EXPECT_EQ(format_rough_time(1e300), "more than 10,000 years");
}

}  // namespace
}  // namespace spikeweave
