#include "spikeweave/spikes/bin_grid.hpp"

#include <gtest/gtest.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

spike_sequence one_unit(std::vector<std::int64_t> times, time_span span) {
    std::vector<unit_id> units(times.size(), unit_id{0});
    return {std::move(times), std::move(units), {"a"}, span};
}

TEST(BinGrid, GivesASpikeOnTheEndOfTheSpanABinOfItsOwn) {
    const spike_sequence spikes = one_unit({0, 10'000, 20'000}, {0ms, 20ms});

    // The binned span may end after the last spike.
    for (const duration end : {10ms, 20ms}) {
        const binning_options how{.bin = 5ms, .span = time_span{0ms, end}};
        const bin_grid grid(spikes, how);
        EXPECT_EQ(grid.bin_count(), end / 5ms + 1);
        EXPECT_EQ(grid.bin_of(end.count()), end / 5ms);
        EXPECT_EQ(grid.bin_of(end.count() + 1), -1);
        EXPECT_EQ(bin_spikes(spikes, how).outside, end == 10ms ? 1U : 0U);
    }
    const bin_grid grid(spikes, {.bin = 5ms, .span = time_span{0ms, 15ms}});
    EXPECT_EQ(grid.bin_count(), 3U);
    EXPECT_EQ(grid.bin_of(15'000), -1);
}

TEST(BinGrid, BeginsAtAMultipleOfTheBinAlsoBeforeZero) {
    const bin_grid grid(one_unit({-7'000, 3'000}, {-7ms, 3ms}), {.bin = 5ms});

    EXPECT_EQ(grid.origin(), -10ms);
    EXPECT_EQ(grid.bin_count(), 3U);
    EXPECT_EQ(grid.bin_of(-10'001), -1);
    EXPECT_EQ(grid.bin_of(-7'000), 0);
    EXPECT_EQ(grid.bin_of(-5'001), 0);
    EXPECT_EQ(grid.bin_of(-5'000), 1);
    EXPECT_EQ(grid.bin_of(0), 2);
}

TEST(BinGrid, RefusesWhatCannotBe) {
    const spike_sequence spikes = one_unit({0}, {0ms, 20ms});
    EXPECT_THROW(bin_grid(spikes, {.bin = 0ms}), invalid_argument);
    EXPECT_THROW(bin_grid(spikes, {.span = time_span{2ms, 1ms}}), invalid_argument);
    EXPECT_THROW(bin_grid(spikes, {.bin = 1us, .span = time_span{0s, 1h}}), invalid_argument);
    EXPECT_THROW(bin_grid(spikes, {.bin = 21ms, .compat = compatibility::elephant}),
                 invalid_argument);
}

}  // namespace
}  // namespace spikeweave
