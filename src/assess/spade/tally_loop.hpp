#pragma once

#include <cstdint>
#include <functional>

#include "spikeweave/assess/spade.hpp"

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

}  // namespace spikeweave::assess
