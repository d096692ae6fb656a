#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spikeweave/assess/replay.hpp"

/// Counts of scaled chains in the spikes and in the shuffles of a null model.
namespace spikeweave::assess {

/// The chain at each scale, then the reversed chain at each scale.
std::vector<episode> scaled_both_ways(const episode& chain, std::span<const double> scales);

/// Counts in one shuffle after another; calls may come from several threads.
class replay_counter {
public:
    replay_counter() = default;
    replay_counter(const replay_counter&) = delete;
    replay_counter& operator=(const replay_counter&) = delete;
    virtual ~replay_counter() = default;
    /// The counts of `scaled_both_ways` of each chain in shuffle number `which`; 0 are the spikes
    /// themselves.
    virtual std::vector<std::uint64_t> count(std::uint32_t which, const execution& run) const = 0;
};

/// The counter of the options' null model. The spikes must outlive it.
std::unique_ptr<replay_counter> counter_of(const spike_sequence& spikes,
                                           std::span<const episode> chains,
                                           std::span<const time_span> events,
                                           const replay_options& options);

}  // namespace spikeweave::assess
