#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave::assess {

/// Adds the maxima of surrogates [begin, end) to a tally.
using tally_filler =
    std::function<void(std::uint32_t begin, std::uint32_t end, maxima_tally& into)>;

/// The tally of surrogates [begin, end); each rank fills a block of it.
maxima_tally tally_on_ranks(const maxima_tally& empty, std::uint32_t begin, std::uint32_t end,
                            const tally_filler& fill, const execution& run);

/// The loop of `tally_surrogates` over surrogates [begin, end), on threads, independent of how the
/// maxima of a surrogate are found.
/// `maxima_of` is called from many threads at once.
maxima_tally tally_maxima(const maxima_tally& empty, std::uint32_t begin, std::uint32_t end,
                          const std::function<occurrence_maxima(std::uint32_t which)>& maxima_of,
                          const execution& run);

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
