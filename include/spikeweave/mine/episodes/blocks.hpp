#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_blocks.hpp"

/// Frequent episodes in recordings that are larger than memory (docs/algorithms/episodes.md).
namespace spikeweave {

/// The frequent episodes of a recording, and the known properties of its spikes, which were not
/// kept.
struct episodes_in_blocks {
    episode_table table{};
    /// The names of the units in natural order, as in a `spike_sequence`; those of the table are
    /// indices into them.
    std::vector<std::string> unit_names{};
    /// The number of spikes of each unit.
    std::vector<std::uint64_t> spikes_of_units{};
    std::uint64_t spikes = 0;
    /// The number of spikes that were dropped because they were given twice.
    std::uint64_t duplicates = 0;
    /// From the first spike to the last; empty if there is none.
    time_span span{};
};

/// The number of spikes that `mine_episodes` counts at once. More need more memory, fewer take
/// longer.
constexpr std::size_t spikes_counted_at_once = std::size_t{1} << 19;

/// Finds the same episodes with the same counts as in memory. The recording is read once to count
/// the spikes of each unit, and once for each size of episodes from 2 on.
///
/// The memory needed does not depend on the length of the recording: about 200 bytes for each spike
/// that is counted at once, and 16 bytes for each candidate of a size. Before the spikes to be
/// counted, those are kept that an occurrence of the longest delays can reach back to.
/// @param options  the strategy must be `automatic` or `latest_start`; of `max_memory_bytes`,
/// spikes
///         and tables take at most half
/// @param run      threads share the candidates; there must be no devices
/// @param at_once  the number of new spikes that are counted at once, at least 1; the result does
/// not depend
///         on it
/// @throws invalid_argument if an option is out of range, or a spike is earlier than the one before
/// it; io_error of the recording, also if it has changed since it was read before; cancelled.
SPIKEWEAVE_API episodes_in_blocks mine_episodes(spike_blocks& recording,
                                                const episode_mining_options& options,
                                                const execution& run = {},
                                                std::size_t at_once = spikes_counted_at_once);

}  // namespace spikeweave
