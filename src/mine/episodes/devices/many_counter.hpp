#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mine/episodes/search/episode_lists.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

/// The episodes that are counted in many sequences.
struct many_counts_problem {
    const episode_lists& lists;
    std::size_t unit_count;
    tie_rule ties;
    const execution& run;
};

/// Counts the same episodes in several sequences at once, on one device.
class many_counter {
public:
    many_counter() = default;
    many_counter(const many_counter&) = delete;
    many_counter& operator=(const many_counter&) = delete;
    virtual ~many_counter() = default;

    /// The number of sequences to count in at once if each has this many spikes.
    /// @throws device_error if the memory is too small for a single one.
    virtual std::size_t most_sequences(std::size_t spikes) const = 0;

    /// The counts of the episodes of every list of two units or more, in order: list after list of
    /// the first sequence, then of the second, and so on.
    /// @param sequences  without epochs. @throws device_error, cancelled.
    virtual std::vector<std::uint64_t> count(std::span<const spike_sequence> sequences) = 0;
};

/// The counter on one device. @throws device_error if it does not exist.
std::unique_ptr<many_counter> open_many_counter(const many_counts_problem& problem, int ordinal);

}  // namespace spikeweave::episodes
