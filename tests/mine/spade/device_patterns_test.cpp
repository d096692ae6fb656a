#include <gtest/gtest.h>

#include "mine/spade/device_searches.hpp"
#include "mine/spade/emulated_patterns.hpp"
#include "mine/spade/search/miners.hpp"
#include "spikeweave/mine/spade/pattern_blocks.hpp"
#include "support/run_length.hpp"

// The search for patterns on a device, with its code run by lanes that are threads: it finds the
// same patterns in the same order as the CPU.
namespace spikeweave {
namespace {

pattern_mining_result mine_on_lanes(const spade_windows& windows,
                                    const pattern_mining_options& given,
                                    const spade::pattern_emulation& how) {
    pattern_mining_result out{};
    pattern_blocks blocks(windows.window_bins());
    out.summary = spade::mine_on_device(
        [&](const spade::pattern_recording& recording) {
            return std::make_unique<spade::emulated_pattern_device>(recording, how);
        },
        windows, spade::checked_options(windows, given),
        [&](const pattern_table& block) { blocks.append(block); }, {.threads = 2});
    out.table = blocks.joined();
    return out;
}

auto on_lanes(const spade::pattern_emulation& how) {
    return [how](const spade_windows& windows, const pattern_mining_options& options) {
        return mine_on_lanes(windows, options, how);
    };
}

TEST(SpadeDevicePatterns, OneLaneFindsThoseOfTheCpu) {
    random_searches draw(21);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(2000); ++i)
        expect_patterns_of_the_cpu(draw, {1 + draw.below(8), 1 + draw.below(60)}, 40, {.most = 5},
                                   compared, on_lanes({}));
    expect_enough(compared, 2000);
}

TEST(SpadeDevicePatterns, NodesOfManyPlanes) {
    random_searches draw(22);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(60); ++i)
        expect_patterns_of_the_cpu(draw, {2 + draw.below(6), 300 + draw.below(700)}, 50,
                                   {.least = 50, .most = 120}, compared, on_lanes({}));
    expect_enough(compared, 60);
}

TEST(SpadeDevicePatterns, ManyLanesFindThoseOfTheCpu) {
    random_searches draw(23);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(12); ++i)
        expect_patterns_of_the_cpu(draw, {1 + draw.below(5), 1 + draw.below(40)}, 30, {.most = 4},
                                   compared, on_lanes({.has_many_lanes = true}));
    expect_enough(compared, 12);
}

TEST(SpadeDevicePatterns, WhatDoesNotFitIsSearchedOnTheCpu) {
    random_searches draw(24);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(200); ++i)
        expect_patterns_of_the_cpu(draw, {1 + draw.below(8), 1 + draw.below(60)}, 40, {.most = 5},
                                   compared, on_lanes({.arena_words = 64 + draw.below(200)}));
    expect_enough(compared, 200);
}

TEST(SpadeDevicePatterns, InGroupsAndRounds) {
    random_searches draw(25);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(300); ++i)
        expect_patterns_of_the_cpu(
            draw, {1 + draw.below(8), 1 + draw.below(60)}, 40, {.most = 5}, compared,
            on_lanes({.group_bytes = 500 + draw.below(4000), .numbers = 5 + draw.below(200)}));
    expect_enough(compared, 300);
}

TEST(SpadeDevicePatterns, StoredInShortChunksAsFarAsThereIsRoom) {
    random_searches draw(26);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(600); ++i)
        expect_patterns_of_the_cpu(draw, {1 + draw.below(8), 1 + draw.below(60)}, 40, {.most = 5},
                                   compared,
                                   on_lanes({.has_many_lanes = draw.chance(2),
                                             .numbers = 20 + draw.below(400),
                                             .chunk_words = 8 + draw.below(60),
                                             .chunks = draw.below(60)}));
    expect_enough(compared, 600);
}

}  // namespace
}  // namespace spikeweave
