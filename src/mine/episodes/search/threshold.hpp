#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

/// The threshold of the options for this many spikes in this time, rounded up; nullopt if they set
/// none.
/// @throws invalid_argument if an option is out of range.
std::optional<std::uint64_t> given_threshold(const episode_mining_options& options,
                                             std::uint64_t spikes, duration observed);

/// The least default threshold, from the number of spikes of each unit.
std::uint64_t least_default_threshold(std::span<const std::uint64_t> spikes_of_units);

/// The default threshold.
/// @param least        the least one
/// @param units        the number of units with as many spikes
/// @param pair_counts  the counts of all pairs of these units that reach it
std::uint64_t default_threshold(std::uint64_t least, std::size_t units,
                                std::vector<std::uint64_t> pair_counts);

/// Counts the spikes of each unit, on the threads of `run`.
std::vector<std::uint64_t> spikes_per_unit(const spike_sequence& spikes, const execution& run);

}  // namespace spikeweave::episodes
