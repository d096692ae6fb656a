#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

// Makes one spike of each of `units` in turn, 7 ms apart, which causes no warning.
void add_regular(spike_sequence_builder& builder, int units, int spikes) {
    for (int i = 0; i < spikes; ++i)
        builder.append(10'000 + i * 7'000, builder.unit(std::to_string(i % units)));
}

TEST(CheckSpikes, IsSilentAboutCleanData) {
    spike_sequence_builder builder;
    add_regular(builder, 59, 5'000);
    EXPECT_TRUE(check_spikes(builder.finish()).empty());
    EXPECT_TRUE(check_spikes(spike_sequence{}).empty());
}

TEST(CheckSpikes, NamesTheUnitWithDoubledSpikes) {
    spike_sequence_builder builder;
    add_regular(builder, 3, 300);
    for (int i = 0; i < 25; ++i) builder.append(10'150 + i * 21'000, builder.unit("0"));

    const auto warnings = check_spikes(builder.finish());

    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "Unit 0 has 25 of its 124 intervals (20.2 %) between 0.1 and 0.2 ms");
}

TEST(CheckSpikes, TakesABurstForABurst) {
    spike_sequence_builder builder;
    const unit_id unit = builder.unit("0");
    for (std::int64_t i = 0; i < 400; ++i)  // 0.15 ms to 2 ms, evenly
        for (std::int64_t k = 0; k < 2; ++k) builder.append(i * 50'000 + k * (150 + i * 4), unit);
    EXPECT_TRUE(check_spikes(builder.finish()).empty());
}

TEST(CheckSpikes, SuspectsMillisecondsTakenForSecondsAndTheReverse) {
    spike_sequence_builder builder;
    for (std::int64_t i = 0; i < 200; ++i)
        builder.append(i * 1'000'000'000, builder.unit(std::to_string(i % 2)));
    const auto slow = check_spikes(builder.finish());
    ASSERT_EQ(slow.size(), 1U);
    EXPECT_SAYS(slow[0], "fires at 0.0005 Hz and every time is a whole number of seconds");

    for (std::int64_t i = 0; i < 2'000; ++i)
        builder.append(i * 250, builder.unit(std::to_string(i % 2)));
    const auto fast = check_spikes(builder.finish());
    ASSERT_EQ(fast.size(), 1U);
    EXPECT_SAYS(fast[0], "seconds taken for milliseconds");
}

TEST(CheckSpikes, NamesTheWrongTimeUnitInsteadOfWhatItCauses) {
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    for (std::uint32_t i = 0; i < 6'000; ++i)  // each unit's spikes are 120 us apart
        spikes.emplace_back(40 * std::int64_t{i}, unit_id{i % 3});
    const time_span stated{duration{0}, std::chrono::seconds{240}};

    const auto warnings = check_spikes(sequence_of(std::move(spikes), {"a", "b", "c"}, stated));

    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "The median unit fires at 8,335 Hz, faster than any neuron");
}

TEST(CheckSpikes, AsksAboutAChannelSixty) {
    spike_sequence_builder builder;
    add_regular(builder, 61, 2'000);
    const auto warnings = check_spikes(builder.finish());
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "There is a unit 60 beside 60 of the channels 0 to 59");
    add_regular(builder, 100, 2'000);
    EXPECT_TRUE(check_spikes(builder.finish()).empty());
}

TEST(CheckSpikes, CountsArtefactsAndSaysWhenTheFirstWas) {
    spike_sequence_builder builder;
    add_regular(builder, 20, 2'000);
    for (const std::int64_t at : {2'003'000, 4'005'000})
        for (std::int64_t u = 0; u < 15; ++u)
            builder.append(at + 40 * u, builder.unit(std::to_string(u)));

    const auto warnings = check_spikes(builder.finish());

    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0],
                "In 2 intervals of 1 ms at least 10 units fire together, first at "
                "2.003 s: 30 events");
}

// Twenty units of 100 Hz: ten of them fire within a millisecond now and then.
TEST(CheckSpikes, DoesNotTakeChanceForArtefacts) {
    std::mt19937_64 random(1);
    spike_sequence_builder builder;
    for (int i = 0; i < 120'000; ++i)
        builder.append(static_cast<std::int64_t>(random() % 60'000'000),
                       builder.unit(std::to_string(random() % 20)));
    EXPECT_TRUE(check_spikes(builder.finish()).empty());
}

TEST(CheckSpikes, SuspectsZerosThatFillATable) {
    spike_sequence_builder builder;
    add_regular(builder, 8, 800);
    for (int u = 0; u < 6; ++u) builder.append(0, builder.unit(std::to_string(u)));
    const auto warnings = check_spikes(builder.finish());
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "6 units fire at exactly time 0");
}

TEST(CheckSpikes, NamesUnitsThatShareTheirSpikes) {
    spike_sequence_builder builder;
    add_regular(builder, 4, 400);
    for (int i = 0; i < 30; ++i)
        builder.append(10'000 + i * 28'000 + i % 3 * 60, builder.unit("copy"));
    for (int i = 0; i < 25; ++i) builder.append(20'001 + i * 35'000, builder.unit("copy"));

    const auto warnings = check_spikes(builder.finish());

    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0],
                "Unit copy has 30 of its 55 spikes within 0.3 ms of one of unit 0: one neuron may "
                "have been counted as two.");
}

TEST(CheckSpikes, LeavesAFewSharedSpikesAlone) {
    spike_sequence_builder builder;
    add_regular(builder, 4, 400);
    for (int i = 0; i < 30; ++i)
        builder.append(10'000 + i * 28'000 + i % 3 * 60, builder.unit("other"));
    for (int i = 0; i < 31; ++i) builder.append(20'001 + i * 35'000, builder.unit("other"));
    EXPECT_TRUE(check_spikes(builder.finish()).empty());
}

TEST(CheckSpikes, CannotTellSharedSpikesByACoarseClock) {
    spike_sequence_builder builder;
    add_regular(builder, 4, 400);
    for (int i = 0; i < 60; ++i) builder.append(10'000 + i * 28'000, builder.unit("other"));
    EXPECT_TRUE(check_spikes(builder.finish()).empty());
}

TEST(WarningsOf, AddsWhatIsLeftOutOfAFile) {
    temporary_folder folder;
    const auto path = folder.file("a.tsv", "0.1 a\n0.1 a\n0.2 b\n");
    const auto one = warnings_of(read_spikes(path));
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0],
              "1 spike is listed twice (same unit, same microsecond) and was counted once.");
    const auto more = warnings_of(read_spikes(folder.file("b.tsv", "0.1 a\n0.1 a\n0.1 a\n")));
    ASSERT_EQ(more.size(), 1U);
    EXPECT_EQ(more[0],
              "2 spikes are listed twice (same unit, same microsecond) and were counted once.");
}

}  // namespace
}  // namespace spikeweave
