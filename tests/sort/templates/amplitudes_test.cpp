#include "sort/templates/amplitudes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace spikeweave::templates {
namespace {

matched_filter trough(std::int32_t norm) {
    unit_template shape{.channels = {0}};
    for (int f = 0; f < 41; ++f)
        shape.values.push_back(static_cast<float>(-100 * std::exp(-(f - 20) * (f - 20) / 16.0)));
    matched_filter filter = filter_of(shape);
    filter.norm = norm;
    filter.noise = 64;
    return filter;
}

std::vector<template_spike> spikes_of(std::uint32_t unit, double usual, double spread,
                                      std::size_t count) {
    std::mt19937_64 random(unit + 1);
    std::normal_distribution<double> amplitude(usual, spread);
    std::vector<template_spike> out(count);
    for (template_spike& spike : out)
        spike = {.unit = unit, .amplitude = static_cast<float>(amplitude(random))};
    return out;
}

// Each spike of a burst has three quarters of the size of the one before.
std::vector<template_spike> bursts(std::uint32_t unit, std::size_t count) {
    std::vector<template_spike> out = spikes_of(unit, 1, 0.05, count);
    for (std::size_t n = 0; n < out.size(); ++n)
        out[n].amplitude *= static_cast<float>(std::pow(0.75, static_cast<double>(n % 3)));
    return out;
}

// The expectation of a plan for units of these norms after the spikes of units of norm 4000.
std::vector<match_sizes> expected_after(const std::vector<template_spike>& spikes,
                                        std::vector<std::int32_t> norms) {
    std::vector<matched_filter> before;
    std::vector<matched_filter> after;
    std::vector<std::uint32_t> numbers;
    for (const std::int32_t norm : norms) {
        numbers.push_back(static_cast<std::uint32_t>(numbers.size() + 7));
        before.push_back(trough(4000));
        after.push_back(trough(norm));
    }
    match_plan plan(after, {}, {});
    learned_amplitudes(before, spikes, numbers, {}).apply_to(plan, numbers);
    return plan.sizes;
}

// Of a size that is so much off, by the weight of its cost, in deviations of noise 64.
double deviations(std::int64_t weight, double off) {
    return std::sqrt(static_cast<double>(weight) / (1 << 16)) * off / 64;
}

TEST(LearnedAmplitudes, AreThoseOfAnyUnitBeforeThereAreEnoughSpikes) {
    const match_sizes sizes = expected_after(spikes_of(0, 1, 0.05, 39), {4000}).front();
    EXPECT_EQ(sizes.least, 2400);
    EXPECT_EQ(sizes.usual, 4000);
    EXPECT_EQ(sizes.most, 6400);
    EXPECT_NEAR(deviations(sizes.weight_below, 800), 1, 0.01);
    EXPECT_EQ(sizes.weight_above, sizes.weight_below);
}

TEST(LearnedAmplitudes, SpreadAsTheSpikesOfTheUnit) {
    const match_sizes sizes = expected_after(spikes_of(0, 1, 0.1, 2000), {4000}).front();
    EXPECT_NEAR(sizes.least, 2400, 20);
    EXPECT_NEAR(sizes.most, 6400, 20);
    EXPECT_NEAR(deviations(sizes.weight_below, 400), 1, 0.08);
    EXPECT_NEAR(deviations(sizes.weight_above, 400), 1, 0.08);
    // The mean of few spikes and of what is expected of any unit.
    const match_sizes few = expected_after(spikes_of(0, 1, 0.1, 40), {4000}).front();
    EXPECT_LT(few.weight_below, sizes.weight_below);
}

TEST(LearnedAmplitudes, GoAsFarAsThoseOfABurstingNeuron) {
    const match_sizes sizes = expected_after(bursts(0, 900), {4000}).front();
    EXPECT_NEAR(sizes.usual / 4000.0, 0.75, 0.03);
    EXPECT_NEAR(sizes.least / 4000.0, 0.75 * 0.52, 0.04);
    EXPECT_LT(sizes.weight_above, sizes.weight_below * 2);
}

// A template that is averaged again may have another norm, and another place among the units.
TEST(LearnedAmplitudes, GoWithTheSpikesWhenTheTemplateChanges) {
    std::vector<template_spike> spikes = spikes_of(0, 1, 0.1, 400);
    const std::vector<template_spike> other = spikes_of(1, 1.2, 0.1, 400);
    spikes.insert(spikes.end(), other.begin(), other.end());
    const std::vector<match_sizes> sizes = expected_after(spikes, {2000, 8000});
    EXPECT_NEAR(sizes[0].usual, 4000, 60);
    EXPECT_NEAR(sizes[1].usual, 4800, 60);
    EXPECT_NEAR(deviations(sizes[0].weight_below, 400), 1, 0.2);
}

}  // namespace
}  // namespace spikeweave::templates
