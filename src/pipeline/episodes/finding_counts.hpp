#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "spikeweave/pipeline/episodes.hpp"

/// The counts of the findings of a search in a part of the time, and those expected from the rates
/// of the units alone.
namespace spikeweave::pipeline {

/// The findings of a result that are followed: each direct edge with its best delay interval, and
/// the chains.
std::vector<episode> direct_edges_and_chains(const episode_result& result);

/// The counts of each finding in one sample of the time.
struct sample_counts {
    double seconds = 0;
    std::vector<std::uint64_t> counts{};
    std::vector<std::uint64_t> first_spikes{};
    std::vector<std::vector<double>> expected{};  ///< by the unit whose spikes are rotated
    std::vector<std::vector<double>> removed{};   ///< by that rotation (`removed_by_jitter`)
};

sample_counts count_sample(const spike_sequence& spikes, std::span<const episode> findings,
                           tie_rule ties, duration jitter_window, const std::stop_token& stop);

/// The unit of a finding, of so many, whose rotation predicts the most occurrences in all samples
/// together; so the choice does not depend on their order or labels.
std::size_t most_expected(std::span<const sample_counts> samples, std::size_t finding,
                          std::size_t units);

}  // namespace spikeweave::pipeline
