#include "sort/templates/misfits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace spikeweave::templates {
namespace {

constexpr std::int32_t whole = 1 << overlap_bits;

// Filters of one channel: a trough of a width in frames, of norm 1, for spikes of the given norm.
matched_filter trough(double width, std::int32_t norm) {
    constexpr std::size_t frames = 41;
    unit_template shape{.channels = {0}};
    for (std::size_t f = 0; f < frames; ++f) {
        const double t = (static_cast<double>(f) - 20) / width;
        shape.values.push_back(static_cast<float>(-100 * std::exp(-t * t)));
    }
    matched_filter filter = filter_of(shape);
    filter.norm = norm;
    filter.noise = 64;
    return filter;
}

const overlap& row_of(const match_plan& plan, std::uint32_t unit, std::uint32_t other) {
    const auto rows = plan.overlaps.of(unit);
    return *std::ranges::find(rows, other, &overlap::other);
}

std::int32_t misfit_of(const match_plan& plan, std::uint32_t unit, std::uint32_t other) {
    const auto rows = plan.overlaps.of(unit);
    const auto row = std::ranges::find(rows, other, &overlap::other) - rows.begin();
    return plan.misfits[unit][static_cast<std::size_t>(row)];
}

left_over& of_pair(left_over_table& table, const match_plan& plan, std::uint32_t unit,
                   std::uint32_t other) {
    const auto rows = plan.overlaps.of(unit);
    const auto row = std::ranges::find(rows, other, &overlap::other) - rows.begin();
    return table[unit][static_cast<std::size_t>(row)];
}

left_over_table empty_table(const match_plan& plan) {
    left_over_table table;
    for (std::size_t unit = 0; unit < plan.filters.size(); ++unit)
        table.emplace_back(plan.overlaps.of(unit).size());
    return table;
}

class Misfits : public ::testing::Test {
protected:
    match_plan plan_{{trough(4, 4000), trough(6, 3000)}, {}, {}};
    std::vector<std::uint32_t> numbers_{7, 9};

    // What a plan expects of the first unit beside the second, after this was measured.
    std::int32_t after(const left_over& measured) const {
        left_over_table table = empty_table(plan_);
        of_pair(table, plan_, 0, 1) = measured;
        match_plan next = plan_;
        measured_misfits(plan_, table, numbers_).apply_to(next, numbers_);
        return misfit_of(next, 0, 1);
    }
};

TEST_F(Misfits, AreATenthBeforeTheyAreMeasured) {
    EXPECT_NEAR(misfit_of(plan_, 0, 1), whole / 10, 1);
    EXPECT_NEAR(after({.count = 29, .sizes = 29 * 4000, .squares = 0}), whole / 10, 1)
        << "too few spikes";
}

TEST_F(Misfits, AreNothingWhereOnlyNoiseIsLeft) {
    EXPECT_EQ(after({.count = 100, .sizes = 100 * 4000, .squares = 100 * 64 * 64}), 0);
    EXPECT_EQ(after({.count = 100, .sizes = 100 * 4000, .squares = 100 * 50 * 50}), 0);
}

TEST_F(Misfits, AreTwoDeviationsOfWhatIsLeftBeyondTheNoise) {
    const double contributed = 4000.0 * row_of(plan_, 0, 1).largest / whole;
    const std::int64_t beyond = 80;
    const std::int64_t squares = 64 * 64 + beyond * beyond;
    EXPECT_NEAR(after({.count = 100, .sizes = 100 * 4000, .squares = 100 * squares}),
                2 * 80 / contributed * whole, 1);
    EXPECT_NEAR(after({.count = 100, .sizes = 100 * 4000, .squares = 100 * 900 * 900}), 0.3 * whole,
                1)
        << "no more than this";
}

// Units are known by their numbers, because a round may drop some of them.
TEST_F(Misfits, GoWithTheNumbersOfUnits) {
    left_over_table table = empty_table(plan_);
    of_pair(table, plan_, 0, 1) = {.count = 100, .sizes = 100 * 4000, .squares = 0};
    const measured_misfits measured(plan_, table, numbers_);
    match_plan turned{{trough(6, 3000), trough(4, 4000)}, {}, {}};

    measured.apply_to(turned, std::vector<std::uint32_t>{9, 7});

    EXPECT_EQ(misfit_of(turned, 1, 0), 0);
    EXPECT_NEAR(misfit_of(turned, 0, 1), whole / 10, 1);
}

// Spikes whose shape varies leave more of themselves in the scores of another filter than spikes
// that are as their template.
TEST(LeftOver, TellsSpikesThatVaryFromOthers) {
    const std::vector<matched_filter> filters{trough(4, 4000), trough(6, 3000)};
    const match_plan plan(filters, {.measures_left_over = true}, {});
    const auto left_by = [&](double spread) {
        std::mt19937_64 random(3);
        const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 - 0.5; };
        integer_block block{.channels = 1, .frames = 40 * 100};
        block.values.resize(block.frames);
        for (std::size_t f = 0; f < block.frames; ++f)
            block.values[f] = static_cast<std::int16_t>(std::lround(100 * uniform()));
        for (std::size_t i = 0; i < 38; ++i) {
            const double width = 4 * (1 + spread * uniform());
            for (std::size_t f = 0; f < 41; ++f) {
                const double t = (static_cast<double>(f) - 20) / width;
                block.values[100 + 100 * i + f] = static_cast<std::int16_t>(
                    std::lround(block.values[100 + 100 * i + f] - 1800 * std::exp(-t * t)));
            }
        }
        const block_matches found = match_block(plan, scores_of(filters, block, 20));
        EXPECT_GE(std::ranges::count(found.spikes, 0U, &block_match::unit), 35);
        EXPECT_TRUE(match_block(match_plan(filters, {}, {}), scores_of(filters, block, 20))
                        .left_over.empty());
        left_over_table table = found.left_over;
        return of_pair(table, plan, 0, 1);
    };

    const left_over alike = left_by(0);
    const left_over varying = left_by(0.5);

    EXPECT_EQ(alike.count, 38U);
    EXPECT_GE(varying.count, 35U);
    EXPECT_NEAR(static_cast<double>(alike.sizes) / 38, 4000, 400);
    EXPECT_GT(varying.squares, 4 * alike.squares);
}

}  // namespace
}  // namespace spikeweave::templates
