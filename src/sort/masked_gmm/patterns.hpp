#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave::masked_gmm {

/// The sets of features that are unmasked together, numbered in the order of their first spikes.
struct mask_patterns {
    std::vector<std::uint32_t> of_spike{};
    std::vector<std::uint32_t> first_spike{};
    std::vector<std::uint32_t> spikes{};

    std::size_t size() const { return spikes.size(); }
};

mask_patterns find_patterns(const spike_features& features);
/// Patterns in descending order of their numbers of spikes; among equal ones, the one seen first is
/// first.
std::vector<std::uint32_t> by_frequency(const mask_patterns& patterns);

/// A pattern as bits.
using bit_row = std::vector<std::uint64_t>;
bit_row bits_of(const spike_features& features, std::uint32_t spike);

}  // namespace spikeweave::masked_gmm
