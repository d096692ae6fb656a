#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

/// Several sequences of the same units side by side, as if they were one recording of many more
/// units: unit u of sequence s is number s * units + u. The spikes of each sequence follow those of
/// the one before, so every train is in the order of time, but not all spikes together.
struct sequences_side_by_side {
    std::vector<std::int64_t> times_us{};
    std::vector<unit_id> unit_of{};
    std::size_t units = 0;        ///< of all sequences
    std::int64_t origin_us = 0;   ///< the earliest spike
    std::uint64_t length_us = 0;  ///< from the earliest spike to the latest

    /// @param sequences  at least one
    sequences_side_by_side(std::span<const spike_sequence> sequences, const execution& run);
};

}  // namespace spikeweave::episodes
