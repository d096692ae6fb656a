#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave::masked_gmm {

/// Spikes whose unmasked features are all in one small set. They share the coefficients of each
/// cluster, which are gathered once.
struct spike_group {
    std::vector<std::uint32_t> columns{};  ///< ascending
    std::vector<std::uint32_t> spikes{};   ///< ascending
};

/// The rules by which spikes are grouped.
struct group_rules {
    /// Gathering one coefficient takes as long as using it for this many spikes.
    double gather_cost = 0;
    /// A group has no more columns than this, unless a single spike has.
    std::size_t most_columns = std::numeric_limits<std::size_t>::max();
    /// Largest number of groups that are considered for a pattern.
    std::size_t looked_at = 0;
};

/// The scaling of the features and their noise in scaled units. A space measured on all spikes also
/// serves subsets of them and later spikes.
struct feature_space {
    std::vector<double> low{};
    std::vector<double> range{};
    noise_model noise{};
    std::size_t seldom_masked = 0;  ///< number of features that are seldom masked
    std::size_t floored = 0;        ///< number of features without variance in the noise
};

feature_space measure_space(const spike_features& features, const execution& run);

/// The virtual data as differences from noise: masked features do not differ and take no memory.
/// With y and eta as in docs/algorithms/masked-gmm.md, `delta` is y - mean and `eta` is eta -
/// variance.
struct sparse_data {
    sparse_data(const spike_features& what, const group_rules& rules, const execution& run);
    /// Uses a space that was measured on more or on other spikes.
    sparse_data(const spike_features& what, const feature_space& space, const group_rules& rules,
                const execution& run);

    std::size_t size() const { return features->size(); }
    std::size_t feature_count() const { return features->feature_count(); }
    std::span<const std::uint32_t> columns(std::size_t spike) const {
        return features->unmasked(spike);
    }
    std::span<const double> masks(std::size_t spike) const { return features->mask_values(spike); }
    std::span<const double> deltas(std::size_t spike) const { return part(delta, spike); }
    std::span<const double> etas(std::size_t spike) const { return part(eta, spike); }

    const spike_features* features;
    noise_model noise{};
    std::vector<double> delta{};
    std::vector<double> eta{};
    std::vector<double> cost{};  ///< cost of the parameters of each spike, for the penalty
    std::vector<spike_group> groups{};
    std::size_t seldom_masked = 0;  ///< number of features that are seldom masked
    std::size_t floored = 0;        ///< number of features without variance in the noise

private:
    std::span<const double> part(const std::vector<double>& all, std::size_t spike) const {
        return std::span{all}.subspan(features->masks().offsets[spike], columns(spike).size());
    }
};

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
