#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "spikeweave/pipeline/episodes.hpp"

/// How often the findings of a search occur in a part of the time, and how often by the rates of
/// the units alone.
namespace spikeweave::pipeline {

/// What is followed of a result: each direct edge with its best delay interval, and the chains.
std::vector<episode> direct_edges_and_chains(const episode_result& result);

/// What was counted of each finding in one sample of the time.
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
