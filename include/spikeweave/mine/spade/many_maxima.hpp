#pragma once

#include <cstdint>
#include <functional>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave {

/// Recordings [begin, end) of the same units, such as the surrogates of one recording.
struct many_recordings {
    /// Makes one of them. It must be pure, since it is called from many threads at once.
    std::function<binned_spikes(std::uint32_t which)> make{};
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t window_bins = 1;
};

/// Receives the maxima of one recording.
using maxima_taker = std::function<void(std::uint32_t which, const occurrence_maxima& maxima)>;

/// Computes the result of `find_occurrence_maxima` for each recording, on the devices of `run`, and
/// passes it to `take` from one thread at a time, in no particular order. A device searches many
/// recordings at once; meanwhile threads make the next ones, search others, and what exceeds its
/// tables, such as a pattern of 64 spikes.
/// @throws invalid_argument like `find_occurrence_maxima`, and if `run` has no device; device_error
/// if a device does not exist or its memory is too small; cancelled; whatever `make` throws.
SPIKEWEAVE_API void find_maxima_on_devices(const many_recordings& what,
                                           const pattern_mining_options& options,
                                           spectrum_kind kind, const maxima_taker& take,
                                           const execution& run);

}  // namespace spikeweave
