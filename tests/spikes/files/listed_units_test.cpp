#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spikeweave/spikes/order_spikes.hpp"
#include "support/error_text.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {
namespace {

constexpr auto nan = std::numeric_limits<double>::quiet_NaN();

listed_units two_units() {
    return {.times_s = {0.5, 1.5, 0.25, 2.5}, .ends = {2, 4}, .names = {"b", "a"}};
}

// The message of the error of a file of these units.
std::string refusal_of(const listed_units& units, const spike_read_options& how = {}) {
    try {
        static_cast<void>(take_units("some.file", units, how));
    } catch (const io_error& error) {
        return error.what();
    }
    ADD_FAILURE() << "the units were taken";
    return {};
}

TEST(TakeUnits, MakesWhatAFileWouldGive) {
    listed_units units = two_units();
    units.columns = {{"label", {"MUA", "good"}}};
    units.snr = {3, 4};
    units.places = {{1, 2}, {3, 4}};
    units.observed_s = {0, 10};
    const spike_file file = take_units("some.file", units, {.labels = {"all"}});
    EXPECT_EQ(named(file.spikes),
              (named_spikes{{250'000, "a"}, {500'000, "b"}, {1'500'000, "b"}, {2'500'000, "a"}}));
    EXPECT_EQ(file.spikes.unit_names(), (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(file.labels, (std::vector<std::string>{"mua", "good"}));
    EXPECT_EQ(file.snr, (std::vector<double>{3, 4}));
    EXPECT_EQ(file.spikes.places(), (unit_places{{"b", {1, 2}}, {"a", {3, 4}}}));
    EXPECT_EQ(file.spikes.span(), (time_span{duration{0}, duration{10'000'000}}));
    EXPECT_TRUE(file.has_recorded_span);
    EXPECT_TRUE(file.warnings.empty());
    const spike_file good = take_units("some.file", units);
    EXPECT_EQ(good.spikes.unit_names(), std::vector<std::string>{"a"});
    EXPECT_EQ(good.spikes.places().at("a"), (unit_place{3, 4}));
}

TEST(TakeUnits, NamesTheFileAndTheUnitInEachError) {
    listed_units units = two_units();
    units.times_s[2] = nan;
    EXPECT_SAYS(refusal_of(units), "'some.file', unit a, spike 1: found nan, expected a time");
    units.times_s[2] = -1;
    EXPECT_SAYS(refusal_of(units), "unit a, spike 1: found the time -1 before zero");
    EXPECT_EQ(take_units("some.file", units, {.allow_negative = true}).spikes.size(), 4U);
    units = two_units();
    units.observed_s = {0, INFINITY};
    EXPECT_SAYS(refusal_of(units), "'some.file', observed intervals: row 0: found 0 to inf");
    units = two_units();
    units.ends = {3, 2};
    EXPECT_SAYS(refusal_of(units), "found 2 as the end of its spikes, expected 3 to 4");
    units.ends = {2, 3};
    EXPECT_SAYS(refusal_of(units), "found 3 spikes of units, expected all 4");
    units = two_units();
    units.snr = {1};
    EXPECT_SAYS(refusal_of(units), "found 1 signal-to-noise ratios of 2 units");
    EXPECT_SAYS(refusal_of(two_units(), {.labels = {"good"}}), "has no labels of units");
    const auto unknown = text_of(
        [] { static_cast<void>(take_units("some.file", two_units(), {.only_units = {"c"}})); });
    EXPECT_SAYS(unknown, "'some.file': no unit is named 'c'");
}

TEST(TakeUnits, NumbersUnitsWithoutNamesThatDiffer) {
    listed_units units = two_units();
    units.names = {"a", "a"};
    units.ids = {"7", "8"};
    spike_file file = take_units("some.file", units);
    EXPECT_EQ(file.spikes.unit_names(), (std::vector<std::string>{"7", "8"}));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "names that repeat: the units are called by their ids");
    units.ids = {"7", "7"};
    file = take_units("some.file", units);
    EXPECT_EQ(file.spikes.unit_names(), (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(file.warnings.size(), 2U);
}

TEST(TakeUnits, LooksForLabelsInTheColumnsThatHaveSome) {
    listed_units units = two_units();
    units.columns = {{"label", {"CA1", "CA3"}}, {"group", {"NOISE", "nan"}}};
    EXPECT_EQ(take_units("some.file", units, {.labels = {"all"}}).labels,
              (std::vector<std::string>{"noise", "unsorted"}));
    units.columns = {{"label", {"CA1", "CA3"}}};
    EXPECT_TRUE(take_units("some.file", units).labels.empty());
}

// Times of trials of two units, unit by unit, each from its own beginning.
listed_units trials_of_two_units(int trials) {
    listed_units units{.names = {"a", "b"}};
    for (int unit = 0; unit < 2; ++unit) {
        for (int trial = 0; trial < trials; ++trial)
            for (const double at : {0.1, 0.6, 1.1, 1.9}) units.times_s.push_back(at + trial * 1e-3);
        units.ends.push_back(units.times_s.size());
    }
    return units;
}

TEST(TakeUnits, WarnsOfTrialsThatLieOverOneAnother) {
    const spike_file file = take_units("some.file", trials_of_two_units(5));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "The times of 2 units begin again, up to 4 times each");
    EXPECT_EQ(file.out_of_order, 8U);
    EXPECT_TRUE(take_units("some.file", trials_of_two_units(1)).warnings.empty());
    EXPECT_SAYS(take_units("some.file", trials_of_two_units(2)).warnings.at(0), ", once, as if");
}

TEST(TakeUnits, WarnsOfTimesOf32BitsWhereTheyAreTooCoarse) {
    listed_units units = two_units();
    units.are_32_bit = true;
    EXPECT_TRUE(take_units("some.file", units).warnings.empty());
    units.times_s.back() = 40'000;
    EXPECT_SAYS(take_units("some.file", units).warnings.at(0), "32 bits, which are 3.906 ms apart");
    EXPECT_TRUE(warning_of_32_bits(500).empty());
    EXPECT_SAYS(warning_of_32_bits(600), "61 us apart at 600 s");
}

TEST(ListingOrder, KnowsTrialsFromSpikesInAnyOtherOrder) {
    const auto look = [](const std::vector<std::int64_t>& times) {
        listing_order order;
        for (const std::int64_t time : times) order.add(time, unit_id{0});
        return order.begins();
    };
    std::vector<std::int64_t> trials;
    std::vector<std::int64_t> backward;
    std::vector<std::int64_t> swapped;
    for (std::int64_t i = 0; i < 60; ++i) {
        trials.push_back(i % 10 * 100);
        backward.push_back(6'000 - i * 100);
        swapped.push_back(i * 100 - (i % 5 == 4 ? 150 : 0));  // 50 before the spike before it
    }
    EXPECT_TRUE(look(trials).look_like_trials);
    EXPECT_EQ(look(trials).most, 5U);
    EXPECT_FALSE(look(backward).look_like_trials);
    EXPECT_FALSE(look(swapped).look_like_trials);
    EXPECT_EQ(look(swapped).units, 1U);
    EXPECT_FALSE(look({}).look_like_trials);
}

TEST(OrderSpikes, SaysWhetherTimesBeginAgain) {
    std::vector<double> times;
    for (int i = 0; i < 20; ++i) times.push_back(i % 10 * 0.1);
    const std::vector<std::uint32_t> units(20, 0);
    const ordered_spikes made = order_spikes(times, units, {"a"}, {}, {});
    EXPECT_SAYS(warning_of_trials(made.begins), "The times of a unit begin again, once");
    EXPECT_SAYS(warning_of_trials(made.begins, "trial"), "The column trial is not used. ");
    EXPECT_TRUE(warning_of_trials({}, "trial").empty());
}

TEST(CheckSpikes, NamesWellsThatAreTakenForOneCulture) {
    spike_sequence_builder builder;
    int i = 0;
    for (const char* name : {"A1_11", "A1_12", "H12_88"})
        builder.append(10'000 + 7'000 * i++, builder.unit(name));
    EXPECT_SAYS(check_spikes(builder.finish()).at(0), "2 wells of a plate");
    for (const char* name : {"A1_11", "A1_12"})
        builder.append(10'000 + 7'000 * i++, builder.unit(name));
    EXPECT_TRUE(check_spikes(builder.finish()).empty());
    // Names of other things.
    for (const char* name : {"A1_11", "A2_11", "I1_11", "A13_11", "A1_19", "A1_1", "a1_11"}) {
        builder.append(10'000 + 7'000 * i++, builder.unit("A1_11"));
        builder.append(10'000 + 7'000 * i++, builder.unit(name));
        const auto warnings = check_spikes(builder.finish());
        EXPECT_EQ(warnings.size(), std::string(name) == "A2_11" ? 1U : 0U) << name;
    }
}

TEST(CheckSpikes, TakesNoClusterForTheStimulus) {
    spike_sequence_builder builder;
    for (int i = 0; i < 2'000; ++i)
        builder.append(10'000 + i * 7'000, builder.unit(std::to_string(i % 61)));
    const spike_sequence spikes = builder.finish();
    EXPECT_EQ(check_spikes(spikes).size(), 1U);
    EXPECT_TRUE(check_spikes(spikes, true).empty());
}

}  // namespace
}  // namespace spikeweave
