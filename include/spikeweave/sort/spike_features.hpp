#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The masks of spikes (how clearly each feature differs from noise) as compressed rows; missing
/// entries are 0. Most masks of a spike are 0 for any number of channels.
struct SPIKEWEAVE_API spike_masks {
    /// Beginning of each spike's entries; one more than spikes.
    std::vector<std::uint64_t> offsets{0};
    /// Strictly ascending within a spike.
    std::vector<std::uint32_t> columns{};
    /// In (0, 1].
    std::vector<double> values{};

    /// @param rows  one mask per feature, grouped by spike: spikes x features
    static spike_masks of_rows(std::span<const double> rows, std::size_t feature_count);

    std::size_t size() const { return offsets.size() - 1; }
    /// Adds a spike, one mask per feature.
    void append(std::span<const double> row);

    friend bool operator==(const spike_masks&, const spike_masks&) = default;
};

/// The features of unsorted spikes (principal components of the waveform on each channel, grouped
/// by channel) and their masks.
///
/// 8 bytes per feature and 12 per mask that is not 0. At most 2^32 - 1 spikes.
class SPIKEWEAVE_API spike_features {
public:
    spike_features() = default;

    /// @param feature_count features of each spike, at least 1
    /// @param values        within +-1e300, grouped by spike: spikes x features
    /// @param masks         one row per spike, each value in (0, 1]
    /// @throws invalid_argument if one of these does not hold; it names the spike and the feature,
    /// both from 0.
    spike_features(std::size_t feature_count, std::vector<double> values, spike_masks masks);

    std::size_t size() const { return masks_.size(); }
    std::size_t feature_count() const { return feature_count_; }
    std::span<const double> values() const { return values_; }
    std::span<const double> values(std::size_t spike) const {
        return values().subspan(spike * feature_count_, feature_count_);
    }
    /// The features of a spike whose mask is not 0, ascending.
    std::span<const std::uint32_t> unmasked(std::size_t spike) const {
        return std::span{masks_.columns}.subspan(masks_.offsets[spike], unmasked_count(spike));
    }
    /// Their masks.
    std::span<const double> mask_values(std::size_t spike) const {
        return std::span{masks_.values}.subspan(masks_.offsets[spike], unmasked_count(spike));
    }
    const spike_masks& masks() const { return masks_; }
    /// Writes the masks of a spike, one per feature, 0 where it has none.
    void write_masks(std::size_t spike, std::span<double> row) const;
    /// The masks of all spikes, grouped by spike: spikes x features.
    std::vector<double> dense_masks() const;

    friend bool operator==(const spike_features&, const spike_features&) = default;

private:
    std::size_t unmasked_count(std::size_t spike) const {
        return masks_.offsets[spike + 1] - masks_.offsets[spike];
    }

    std::size_t feature_count_ = 0;
    std::vector<double> values_;
    spike_masks masks_;
};

/// A selection of spikes, in the order of `spikes`.
/// @param spikes  below `from.size()`
SPIKEWEAVE_API spike_features select_spikes(const spike_features& from,
                                            std::span<const std::uint32_t> spikes);

}  // namespace spikeweave
