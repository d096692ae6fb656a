#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spikeweave/core/random.hpp"
#include "spikeweave/mine/spade.hpp"

/// Patterns of three units in the form that a miner returns, with random items, counts and numbers
/// of occurrences.
inline spikeweave::pattern_table random_patterns(std::uint32_t seed, std::size_t patterns,
                                                 std::uint32_t window) {
    spikeweave::random_stream random(seed, spikeweave::random_purpose::poisson_spikes, 0);
    spikeweave::pattern_table out{.window_bins = window};
    for (std::size_t i = 0; i < patterns; ++i) {
        std::vector<spikeweave::pattern_item> items{0};
        for (std::uint64_t more = random.below(4); more > 0; --more) {
            const auto unit = static_cast<std::uint32_t>(random.below(3));
            items.push_back(unit * window + static_cast<std::uint32_t>(random.below(window)));
        }
        std::vector<std::uint32_t> starts(2 + random.below(5));
        for (std::uint32_t& start : starts) start = static_cast<std::uint32_t>(random.below(400));
        out.append(items, static_cast<std::uint32_t>(starts.size()), starts);
    }
    return out;
}
