#include "sort/templates/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "sort/templates/placed_waveforms.hpp"

namespace spikeweave::templates {
namespace {

constexpr std::size_t before = 20;
constexpr std::size_t frames = 61;

// A trough and a rebound that shrink with the distance from a channel, of the given height.
unit_template template_on(std::uint32_t peak_channel, double height, double width) {
    unit_template out{.peak_channel = peak_channel};
    for (std::uint32_t c = 0; c < 6; ++c) {
        const double apart = std::abs(static_cast<double>(c) - peak_channel);
        out.channels.push_back(c);
        for (std::size_t f = 0; f < frames; ++f) {
            const double t = static_cast<double>(f) - static_cast<double>(before) - apart / 2;
            const double after = (t - 3 * width) / (2 * width);
            const double shape =
                0.3 * std::exp(-after * after) - std::exp(-t * t / (width * width));
            out.values.push_back(static_cast<float>(height * shape / (1 + apart * apart)));
        }
    }
    return out;
}

std::vector<matched_filter> filters_of(const std::vector<unit_template>& templates) {
    std::vector<matched_filter> out;
    std::ranges::transform(templates, std::back_inserter(out), filter_of);
    return out;
}

// Traces that hold the spikes, and noise of the given size.
integer_block traces_of(const std::vector<matched_filter>& filters,
                        const std::vector<template_spike>& spikes, std::size_t length,
                        double noise) {
    channel_block block{.frames = length, .channels = 6};
    block.values.resize(length * 6);
    // The subtracted values are negative: the signs are turned below.
    placed_waveforms(filters, {static_cast<std::int64_t>(before),
                               static_cast<std::int64_t>(frames - before) - 1})
        .subtract(spikes, block);
    std::mt19937_64 random(7);
    integer_block out{.channels = 6, .frames = length};
    out.values.resize(block.values.size());
    for (std::size_t c = 0; c < 6; ++c)
        for (std::size_t f = 0; f < length; ++f) {
            double normal = -6;
            for (int i = 0; i < 12; ++i) normal += static_cast<double>(random() >> 11) * 0x1p-53;
            out.values[c * length + f] = static_cast<std::int16_t>(
                std::lround((noise * normal - block.values[c * length + f]) * steps_per_sd));
        }
    return out;
}

std::vector<block_match> match(const match_plan& plan, const integer_block& traces,
                               std::span<const char> excluded = {}) {
    return match_block(plan, scores_of(plan.filters, traces, before), {excluded}).spikes;
}

TEST(FilterOf, HoldsTheTemplateUpToTheNoise) {
    const unit_template made = template_on(2, 20, 4);
    const matched_filter filter = filter_of(made);
    double left = 0;
    for (std::size_t c = 0; c < made.channels.size(); ++c) {
        const std::vector<float> waveform = waveform_of(filter, c, 0);
        for (std::size_t f = 0; f < frames; ++f) left += std::pow(waveform[f] - made.on(c)[f], 2);
    }
    EXPECT_LE(std::sqrt(left), 1.1);
    EXPECT_LE(filter.ranks, most_ranks);
    EXPECT_EQ(filter_of(unit_template{}).ranks, 0U);
}

TEST(OverlapTable, IsWhatTheFiltersSeeOfASpike) {
    const std::vector<matched_filter> filters =
        filters_of({template_on(2, 20, 4), template_on(3, 12, 6)});
    const overlap_table table(filters, {});
    for (std::uint32_t unit = 0; unit < 2; ++unit)
        for (int part = 0; part < parts_of_frame; ++part) {
            const float fraction = static_cast<float>(part) / parts_of_frame;
            const integer_block traces = traces_of(
                filters, {{.frame = 150, .fraction = part == 3 ? -0.25F : fraction, .unit = unit}},
                300, 0);
            const std::int64_t at = part == 3 ? 149 : 150;
            for (const overlap& row : table.of(unit)) {
                const score_table scores = scores_of(filters, traces, before);
                const std::span<const std::int32_t> seen = scores.of(row.other);
                const auto expected = table.values(row, part);
                for (std::int64_t lag = -30; lag <= 30; ++lag)
                    ASSERT_NEAR(seen[static_cast<std::size_t>(at + lag)],
                                static_cast<double>(filters[unit].norm) / (1 << overlap_bits) *
                                    expected[static_cast<std::size_t>(lag + table.reach())],
                                0.01 * filters[unit].norm)
                        << "unit " << unit << " part " << part << " lag " << lag;
            }
        }
}

TEST(MatchBlock, FindsSpikesThatOverlap) {
    const std::vector<matched_filter> filters =
        filters_of({template_on(1, 20, 4), template_on(3, 12, 6), template_on(4, 30, 3)});
    std::vector<template_spike> spikes;
    for (std::int64_t i = 0; i < 20; ++i) {
        spikes.push_back({.frame = 200 + 150 * i, .fraction = 0.25F, .unit = 0, .amplitude = 1.1F});
        spikes.push_back({.frame = 208 + 150 * i + i, .unit = 1, .amplitude = 0.9F});
        spikes.push_back({.frame = 200 + 150 * i - i, .fraction = -0.5F, .unit = 2});
    }
    std::ranges::sort(spikes, {}, &template_spike::frame);
    const match_plan plan(filters, {}, {});
    const auto found = match(plan, traces_of(filters, spikes, 3400, 1));
    std::vector<int> count(3);
    int right = 0;
    for (const block_match& match : found) {
        ++count[match.unit];
        for (const template_spike& spike : spikes)
            right += spike.unit == match.unit && std::abs(spike.frame - match.frame) <= 1 &&
                     std::abs(static_cast<float>(match.size) /
                                  static_cast<float>(filters[match.unit].norm) -
                              spike.amplitude) < 0.15;
    }
    EXPECT_EQ(count, (std::vector<int>{20, 20, 20}));
    EXPECT_GE(right, 58);
}

// Two spikes at once, of templates with a correlation of about a half: what the first takes of the
// second has to be given back.
// A block that begins within a spike which another one has found.
TEST(MatchBlock, SubtractsSpikesThatAreKnownAndChangesNoneOfThem) {
    const std::vector<matched_filter> filters =
        filters_of({template_on(1, 20, 4), template_on(3, 12, 6)});
    const integer_block traces = traces_of(
        filters, {{.frame = 100, .fraction = 0.25F, .unit = 0}, {.frame = 108, .unit = 1}}, 300, 1);
    match_plan plan(filters, {.fit_together = true}, {});
    const auto all = match(plan, traces);
    ASSERT_EQ(all.size(), 2U);
    const std::span<const block_match> known = std::span{all}.first(1);
    const auto rest =
        match_block(plan, scores_of(filters, traces, before), {.known = known, .first = 103})
            .spikes;
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].unit, 1U);
    EXPECT_NEAR(rest[0].frame, 108, 1);
    EXPECT_NEAR(static_cast<double>(rest[0].size) / filters[1].norm, 1, 0.1);
    EXPECT_TRUE(
        match_block(plan, scores_of(filters, traces, before), {.known = all}).spikes.empty());
    const auto late =
        match_block(plan, scores_of(filters, traces, before), {.known = known, .first = 115})
            .spikes;
    EXPECT_TRUE(late.empty());
}

TEST(MatchBlock, FitsTheSizesOfSpikesTogetherThatOverlap) {
    const std::vector<matched_filter> filters =
        filters_of({template_on(1, 20, 4), template_on(3, 14, 4)});
    std::vector<template_spike> spikes;
    for (std::int64_t i = 0; i < 40; ++i) {
        const std::int64_t at = 200 + 150 * i;
        spikes.push_back({.frame = at, .unit = 0, .amplitude = 1.1F});
        spikes.push_back({.frame = at - 3 + i % 7, .unit = 1, .amplitude = 0.85F});
    }
    const integer_block traces = traces_of(filters, spikes, 6400, 1);
    const auto found_with = [&](bool fit_together) {
        const match_plan plan(filters, {.fit_together = fit_together}, {});
        return match(plan, traces);
    };

    const std::vector<block_match> found = found_with(true);

    std::vector<int> count(2);
    double sum[2] = {0, 0};
    for (const block_match& match : found) {
        ++count[match.unit];
        sum[match.unit] += static_cast<double>(match.size) / filters[match.unit].norm;
    }
    EXPECT_EQ(count, (std::vector<int>{40, 40}));
    EXPECT_NEAR(sum[0] / 40, 1.1, 0.03);
    EXPECT_NEAR(sum[1] / 40, 0.85, 0.05);
    EXPECT_LT(found_with(false).size(), 75U) << "the case is too easy";
}

// The part returned to a later spike may be nearly all of an earlier one.
TEST(MatchBlock, KeepsNoSpikeOfWhichTooLittleIsLeft) {
    const std::vector<matched_filter> filters =
        filters_of({template_on(1, 20, 4), template_on(2, 22, 5), template_on(3, 18, 4),
                    template_on(2, 16, 3)});
    const match_plan plan(filters, {.fit_together = true}, {});
    std::mt19937_64 random(11);
    std::vector<template_spike> spikes;
    for (std::int64_t i = 0; i < 400; ++i)
        for (std::uint32_t unit = 0; unit < 4; ++unit)
            if (random() % 3 > 0)
                spikes.push_back({.frame = 200 + 120 * i + static_cast<std::int64_t>(random() % 20),
                                  .unit = unit});
    std::ranges::sort(spikes, {}, &template_spike::frame);

    const std::vector<block_match> found = match(plan, traces_of(filters, spikes, 48400, 1));

    EXPECT_GT(found.size(), spikes.size() / 2);
    for (const block_match& each : found)
        EXPECT_GE(each.size, plan.sizes[each.unit].least) << each.frame << ", unit " << each.unit;
}

// Templates that resemble each other, and spikes that fit none of them: whatever is taken has to
// explain something, also where several spikes are changed at once.
TEST(MatchBlock, LeavesLessEnergyThanThereWas) {
    std::vector<unit_template> templates;
    for (std::uint32_t channel = 0; channel < 6; ++channel)
        for (const double width : {3.0, 4.0, 5.5})
            templates.push_back(template_on(channel, 12 + 2 * width, width));
    const std::vector<matched_filter> filters = filters_of(templates);
    std::vector<unit_template> others;
    for (std::uint32_t channel = 0; channel < 6; ++channel)
        others.push_back(template_on(channel, 60, 3.4 + channel));
    const std::vector<matched_filter> unknown = filters_of(others);
    std::vector<template_spike> spikes;
    for (std::int64_t i = 0; i < 60; ++i)
        spikes.push_back({.frame = 300 + 200 * i,
                          .fraction = 0.4F,
                          .unit = static_cast<std::uint32_t>(i % 6),
                          .amplitude = 0.5F + 0.02F * static_cast<float>(i)});
    const integer_block traces = traces_of(unknown, spikes, 12'600, 1);
    const match_plan plan(filters, {.fit_together = true}, {});

    const std::vector<block_match> found = match(plan, traces);

    channel_block left{.frames = traces.frames, .channels = traces.channels};
    std::ranges::transform(traces.values, std::back_inserter(left.values),
                           [](std::int16_t step) { return static_cast<float>(step); });
    const std::vector<float> all = left.values;
    std::vector<template_spike> taken;
    for (const block_match& each : found)
        taken.push_back({.frame = each.frame,
                         .fraction = static_cast<float>(each.part) / parts_of_frame,
                         .unit = each.unit,
                         .amplitude = static_cast<float>(each.size) /
                                      static_cast<float>(filters[each.unit].norm) * steps_per_sd});
    placed_waveforms(filters, {static_cast<std::int64_t>(before),
                               static_cast<std::int64_t>(frames - before) - 1})
        .subtract(taken, left);
    const auto energy = [](std::span<const float> values) {
        return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    };
    for (std::int64_t i = 0; i < 60; ++i) {
        double there = 0;
        double remains = 0;
        for (std::size_t c = 0; c < left.channels; ++c) {
            const auto from = c * left.frames + static_cast<std::size_t>(200 + 200 * i);
            there += energy(std::span{all}.subspan(from, 200));
            remains += energy(std::span{left.values}.subspan(from, 200));
        }
        EXPECT_LT(remains, there) << "spike " << i;
    }
    EXPECT_LT(found.size(), 10 * spikes.size());
}

// A spike of an unusual size for one unit is one of another unit.
TEST(MatchBlock, PrefersTheUnitWhoseSpikesAreOfThatSize) {
    const std::vector<matched_filter> filters =
        filters_of({template_on(2, 24, 4), template_on(2, 16, 4.1)});
    std::vector<template_spike> spikes;
    for (std::int64_t i = 0; i < 200; ++i)
        spikes.push_back({.frame = 200 + 100 * i, .unit = static_cast<std::uint32_t>(i % 2)});
    const integer_block traces = traces_of(filters, spikes, 20'400, 1.5);
    match_plan plan(filters, {}, {});
    const auto wrong = [&] {
        std::size_t out = 0;
        for (const block_match& each : match(plan, traces))
            out += each.unit != static_cast<std::uint32_t>((each.frame - 150) / 100 % 2) ? 1 : 0;
        return out;
    };
    const std::size_t by_any = wrong();
    for (std::uint32_t unit = 0; unit < 2; ++unit)
        plan.expect(unit, {.least = 0.6, .most = 1.6, .spread_below = 0.06, .spread_above = 0.06});
    EXPECT_GT(by_any, 10U) << "the case is too easy";
    EXPECT_LT(wrong(), by_any / 4);
}

TEST(MatchBlock, FindsNothingInNoise) {
    const std::vector<matched_filter> filters =
        filters_of({template_on(1, 5, 4), template_on(3, 30, 6)});
    const match_plan plan(filters, {}, {});
    EXPECT_TRUE(match(plan, traces_of(filters, {}, 20000, 1)).empty());
}

// 4 to 5 standard deviations; where a spike is likelier than noise: d / 2 - log(share) / d.
TEST(MatchPlan, LowersTheThresholdOfSmallTemplates) {
    std::vector<matched_filter> filters =
        filters_of({template_on(1, 5, 4), template_on(3, 5, 4), template_on(2, 5, 4)});
    for (matched_filter& filter : filters) filter.noise = 100;
    filters[0].norm = 500;
    filters[1].norm = 650;
    filters[2].norm = 900;

    const match_plan same(filters, {}, {});
    EXPECT_EQ(same.least_score, (std::vector<std::int32_t>{500, 500, 500}));
    const match_plan lower(filters, {.spike_share = 0.0015}, {});
    EXPECT_EQ(lower.least_score[0], 400);
    EXPECT_NEAR(lower.least_score[1], 100 * (3.25 + 6.502 / 6.5), 1.5);
    EXPECT_EQ(lower.least_score[2], 500);
    const match_plan bold(filters, {.threshold = 3.5, .spike_share = 0.0015}, {});
    EXPECT_EQ(bold.least_score, (std::vector<std::int32_t>{350, 350, 350}));
}

TEST(MatchBlock, LeavesOutAUnitThatIsExcluded) {
    const std::vector<matched_filter> filters = filters_of({template_on(1, 20, 4)});
    const match_plan plan(filters, {}, {});
    const integer_block traces = traces_of(filters, {{.frame = 150}}, 300, 0);
    EXPECT_EQ(match(plan, traces).size(), 1U);
    EXPECT_TRUE(match(plan, traces, std::vector<char>{1}).empty());
}

}  // namespace
}  // namespace spikeweave::templates
