#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave::assess {

/// The number of occurrences with which a pattern of this size meets some rule; 0 if no rule
/// includes this size.
inline std::uint32_t least_occurrences(std::span<const pattern_rule> rules, std::uint32_t size) {
    std::uint32_t least = 0;
    for (const pattern_rule& rule : rules)
        if (size >= rule.min_spikes && (rule.max_spikes == 0 || size <= rule.max_spikes))
            least = least == 0 ? rule.min_occ : std::min(least, rule.min_occ);
    return least;
}

}  // namespace spikeweave::assess
