#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "sort/templates/filter_bank.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/sort/detected_features.hpp"
#include "spikeweave/sort/online.hpp"
#include "spikeweave/sort/templates.hpp"
#include "support/learned_templates.hpp"

// Compares matching by templates on a GPU with that on the CPU.
namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using templates::filter_bank;
using templates::filter_bank_of;
using templates::integer_block;
using templates::matched_filter;
using templates::score_stream_of;

class drawn_filters {
public:
    explicit drawn_filters(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t n) { return random_() % n; }
    std::vector<std::int16_t> numbers(std::size_t count, int largest) {
        std::vector<std::int16_t> out(count);
        for (std::int16_t& each : out)
            each = static_cast<std::int16_t>(
                static_cast<int>(below(static_cast<std::size_t>(2 * largest + 1))) - largest);
        return out;
    }
    matched_filter filter(std::size_t channels, std::size_t frames) {
        matched_filter out{.ranks = below(templates::most_ranks + 1), .frames = frames};
        for (std::uint32_t c = 0; c < channels; ++c)
            if (below(3) > 0) out.channels.push_back(c);
        out.spatial = numbers(out.ranks * out.channels.size(), 1 << templates::filter_bits);
        out.temporal = numbers(out.ranks * frames, 300);
        return out;
    }

private:
    std::mt19937_64 random_;
};

TEST(FilterBankOnDevices, GivesTheScoresOfTheCpu) {
    constexpr std::size_t before = 20;
    drawn_filters draw(3);
    for (const std::size_t channels : {1U, 5U, 40U, 384U})
        for (const std::size_t frames : {61U, 91U, 1500U}) {
            std::vector<matched_filter> filters;
            for (std::size_t i = 0; i < 1 + draw.below(20); ++i)
                filters.push_back(draw.filter(channels, frames));
            const auto expected = filter_bank_of(filters, before, {});
            const auto found = filter_bank_of(filters, before, {.threads = 4, .devices = {0, 0}});
            for (const std::size_t length : {1U, 60U, 61U, 1023U, 1114U, 5000U}) {
                integer_block block{.channels = channels, .frames = length};
                block.values = draw.numbers(channels * length, templates::largest_step);
                ASSERT_EQ(found->scores_of(block).values, expected->scores_of(block).values)
                    << channels << " channels, " << frames << " frames of a filter, " << length
                    << " of the block";
            }
        }
}

TEST(ScoreStreamOnDevices, GivesTheScoresOfTheCpu) {
    drawn_filters draw(8);
    for (const std::size_t channels : {1U, 40U, 384U})
        for (const std::size_t length : {61U, 91U}) {
            std::vector<matched_filter> filters;
            for (std::size_t i = 0; i < 1 + draw.below(20); ++i)
                filters.push_back(draw.filter(channels, length));
            const auto expected = score_stream_of(filters, length, {});
            const auto found = score_stream_of(filters, length, {.devices = {0}});
            for (const std::size_t frames : {1U, 30U, 29U, 400U, 2U, 5000U, 30U}) {
                integer_block piece{.channels = channels, .frames = frames};
                piece.values = draw.numbers(channels * frames, templates::largest_step);
                ASSERT_EQ(found->next(piece, {}).values, expected->next(piece, {}).values)
                    << channels << " channels, " << length << " frames of a filter, " << frames
                    << " of the piece";
            }
        }
}

// Also where it follows the motion of the tissue.
TEST(OnlineSorterOnDevices, FindsTheSpikesOfTheCpu) {
    const simulated_recording made = simulate_recording({.channels = 32,
                                                         .length = 40s,
                                                         .units = 12,
                                                         .drift_um = 15,
                                                         .drift_start = 12s,
                                                         .seed = 9});
    const template_set set = *sort_whole(part_of(made.traces, 0, 12 * 30'000), true).learned;
    std::vector<std::int16_t> samples(made.traces.frame_count() * 32);
    made.traces.read(0, samples);
    for (const motion_model model : {motion_model::none, motion_model::rigid}) {
        const auto sorted_on = [&](const std::vector<int>& devices, std::size_t frames) {
            online_sorter sorter(set, made.traces.description(),
                                 unmoved(made.traces.description(), model), {.devices = devices});
            std::vector<template_spike> out;
            for (std::size_t at = 0; at < samples.size(); at += 32 * frames) {
                const auto more = sorter.add(
                    std::span{samples}.subspan(at, std::min(32 * frames, samples.size() - at)));
                out.insert(out.end(), more.begin(), more.end());
            }
            const auto rest = sorter.finish();
            out.insert(out.end(), rest.begin(), rest.end());
            return std::pair(out, sorter.motion());
        };
        const auto expected = sorted_on({}, 8192);
        EXPECT_GT(expected.first.size(), 1000U);
        if (model == motion_model::rigid) {
            EXPECT_GT(expected.second.range_um(), 5);
        }
        EXPECT_EQ(sorted_on({0}, 30), expected);
        EXPECT_EQ(sorted_on({0}, 100'000), expected);
    }
}

TEST(SortByTemplatesOnDevices, FindsTheSpikesOfTheCpu) {
    const simulated_recording made =
        simulate_recording({.channels = 64, .length = 20s, .units = 30, .seed = 3});
    const detection_options detection{.described_channels = 12};
    const detection_result found = detect_spikes(made.traces, detection);
    const spike_features features = to_features(found);
    const clustering_result clusters = cluster_by_channel(features, made.traces.channels());
    const sorting first{.labels = clusters.labels,
                        .unit_count = clusters.units,
                        .samples = found.frames,
                        .sample_rate = 30000,
                        .sample_count = static_cast<std::int64_t>(made.traces.frame_count()),
                        .fractions = found.fractions};
    const auto sorted_on = [&](const std::vector<int>& devices) {
        return sort_by_templates(made.traces, features, 3, first, detection, {},
                                 {.devices = devices});
    };
    const template_sorting expected = sorted_on({});
    EXPECT_GT(expected.sorted.labels.size(), 1000U);
    for (const std::vector<int>& devices : {std::vector<int>{0}, std::vector<int>{0, 0}}) {
        const template_sorting sorted = sorted_on(devices);
        EXPECT_EQ(sorted.sorted.labels, expected.sorted.labels);
        EXPECT_EQ(sorted.sorted.samples, expected.sorted.samples);
        EXPECT_EQ(sorted.sorted.fractions, expected.sorted.fractions);
        EXPECT_EQ(sorted.amplitudes, expected.amplitudes);
        EXPECT_EQ(sorted.decisions.size(), expected.decisions.size());
    }
}

}  // namespace
}  // namespace spikeweave
