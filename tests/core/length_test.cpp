#include "spikeweave/core/length.hpp"

#include <gtest/gtest.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

TEST(Length, IsReadWithItsUnit) {
    EXPECT_EQ(parse_length("20um"), 20);
    EXPECT_EQ(parse_length(" -7.5 um "), -7.5);
    EXPECT_EQ(parse_length("3\u00b5m"), 3);
    EXPECT_EQ(parse_length("3\u03bcm"), 3);
    EXPECT_EQ(parse_length("0.4mm"), 400);
    EXPECT_EQ(parse_length("0"), 0);
}

TEST(Length, IsRefusedWithoutAUnitItKnows) {
    for (const char* text : {"20", "", "um", "20 m", "20u m", "inf um", "nan", "1e400um", "x20um"})
        EXPECT_THROW(static_cast<void>(parse_length(text)), invalid_argument) << text;
}

TEST(Length, IsShownWithItsUnit) {
    EXPECT_EQ(format_length(20), "20 um");
    EXPECT_EQ(parse_length(format_length(-12.25)), -12.25);
}

}  // namespace
}  // namespace spikeweave
