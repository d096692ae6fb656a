#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Sequences [begin, end) of the same units, such as the surrogates of one recording.
struct many_sequences {
    /// Makes one of them. It must be pure, since it is called from many threads at once.
    std::function<spike_sequence(std::uint32_t which)> make{};
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// Receives the counts of one sequence, one for each episode.
using counts_taker =
    std::function<void(std::uint32_t which, std::span<const std::uint64_t> counts)>;

/// Whether devices can count in many sequences of this length: it must be below 71 minutes, the
/// gaps between epochs included.
SPIKEWEAVE_API bool can_count_in_many(const spike_sequence& like,
                                      std::span<const episode> episodes);

/// Computes the counts of `count_episodes` in each sequence, by latest start on the devices of
/// `run`, and passes them to `take` from one thread at a time, in no particular order. A device
/// counts in many sequences at once, while threads make the next ones.
/// @throws invalid_argument like `count_episodes`, and if `run` has no device or the sequences
/// differ in their units or are too long (`can_count_in_many`); device_error if a device does not
/// exist or its memory is too small; cancelled; whatever `make` throws.
SPIKEWEAVE_API void count_in_many(const many_sequences& what, std::span<const episode> episodes,
                                  tie_rule ties, const counts_taker& take, const execution& run);

}  // namespace spikeweave
