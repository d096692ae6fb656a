#pragma once

#include <cstdint>
#include <functional>

#include "spikeweave/assess/spade.hpp"

namespace spikeweave::assess {

/// The loop of `tally_surrogates` over surrogates [begin, end), independent of how the maxima of a
/// surrogate are found.
/// `maxima_of` is called from many threads at once.
maxima_tally tally_maxima(const maxima_tally& empty, std::uint32_t begin, std::uint32_t end,
                          const std::function<occurrence_maxima(std::uint32_t which)>& maxima_of,
                          const execution& run);

}  // namespace spikeweave::assess
