#include "report/text.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <utility>

namespace spikeweave::report {

using namespace std::chrono_literals;

namespace {

TEST(ReportText, NumbersAreAsOnThePages) {
    for (const auto& [value, text] : {std::pair{0.0, "0"},
                                      {1.0, "1"},
                                      {12345.0, "12,345"},
                                      {123456789.0, "123,456,789"},
                                      {1284.2, "1,280"},
                                      {999.6, "1,000"},
                                      {99.96, "100"},
                                      {661.8, "662"},
                                      {3.08855, "3.09"},
                                      {0.5, "0.5"},
                                      {-0.07184, "-0.0718"},
                                      {0.0009996, "0.001"},
                                      {0.000999, "9.99·10⁻⁴"},
                                      {2.064e-67, "2.06·10⁻⁶⁷"},
                                      {1e-5, "1·10⁻⁵"},
                                      {1.5e12, "1.5·10¹²"},
                                      {std::numeric_limits<double>::quiet_NaN(), "-"},
                                      {std::numeric_limits<double>::infinity(), "-"}})
        EXPECT_EQ(shown_number(value), text) << value;
    EXPECT_EQ(p_text(0), "< 10⁻³⁰⁰");
    EXPECT_EQ(p_text(0.0123), "0.0123");
}

TEST(TimeText, HasFourDigitsUnlessItIsWhole) {
    EXPECT_EQ(report::time_text(59'991'812ms), "59,990 s");
    EXPECT_EQ(report::time_text(1'799'851ms), "1,800 s");
    EXPECT_EQ(report::time_text(59'991ms), "59.99 s");
    EXPECT_EQ(report::time_text(12'345s), "12,345 s");
    EXPECT_EQ(report::time_text(0s), "0 s");
    EXPECT_EQ(report::time_text(133'333us), "133.3 ms");
}

}  // namespace
}  // namespace spikeweave::report
