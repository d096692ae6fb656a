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

/// Features that are known on some channels around each spike only.
struct SPIKEWEAVE_API local_values {
    std::size_t features_per_channel = 1;
    /// Lists of channels, ascending, of one length.
    std::vector<std::vector<std::uint32_t>> patches{};
    /// The list of each spike.
    std::vector<std::uint32_t> patch_of{};
    /// Spike by spike, channel by channel of its list, features fastest.
    std::vector<float> values{};

    friend bool operator==(const local_values&, const local_values&) = default;
};

/// The features of unsorted spikes (principal components of the waveform on each channel, grouped
/// by channel) and their masks. They are known on all channels, or on those around each spike.
///
/// 8 bytes per feature (4 if they are known around spikes only) and 12 per mask that is not 0.
/// At most 2^32 - 1 spikes.
class SPIKEWEAVE_API spike_features {
public:
    spike_features() = default;

    /// @param feature_count features of each spike, at least 1
    /// @param values        within +-1e300, grouped by spike: spikes x features
    /// @param masks         one row per spike, each value in (0, 1]
    /// @throws invalid_argument if one of these does not hold; it names the spike and the feature,
    /// both from 0.
    spike_features(std::size_t feature_count, std::vector<double> values, spike_masks masks);
    /// Features that are known around each spike only.
    /// @param masks  of features that are known
    /// @throws invalid_argument as the constructor; if lists of channels differ in length, are not
    /// ascending or name one that does not exist; or if a value is not finite
    static spike_features known_around(std::size_t feature_count, local_values values,
                                       spike_masks masks);

    std::size_t size() const { return masks_.size(); }
    std::size_t feature_count() const { return feature_count_; }
    /// Whether features are known around each spike only.
    bool is_local() const { return !local_.patches.empty(); }
    /// The features that are known then; otherwise without lists.
    const local_values& local() const { return local_; }
    bool is_known(std::size_t spike, std::size_t feature) const {
        return !is_local() || place_of(spike, feature) != unknown;
    }
    /// 0 if it is not known: detected spikes differ there from noise as little as noise does.
    double value(std::size_t spike, std::size_t feature) const {
        if (!is_local()) return values_[spike * feature_count_ + feature];
        const std::size_t at = place_of(spike, feature);
        return at == unknown ? 0.0 : static_cast<double>(local_.values[at]);
    }
    /// Calls `visit(feature, value)` for the features of a spike that are known, ascending.
    template <class Visit>
    void for_each_known(std::size_t spike, const Visit& visit) const {
        if (!is_local()) {
            for (std::size_t i = 0; i < feature_count_; ++i)
                visit(i, values_[spike * feature_count_ + i]);
            return;
        }
        const float* value = local_.values.data() + spike * local_count();
        for (const std::uint32_t channel : local_.patches[local_.patch_of[spike]])
            for (std::size_t k = 0; k < local_.features_per_channel; ++k)
                visit(channel * local_.features_per_channel + k, static_cast<double>(*value++));
    }
    /// Writes all features of a spike, 0 where they are not known.
    void write_values(std::size_t spike, std::span<double> row) const;
    /// The values of all spikes, grouped by spike: spikes x features.
    std::vector<double> dense_values() const;
    /// All features, grouped by spike. Empty if `is_local()`.
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

    /// So many spikes that are masked on a channel show the noise of its features.
    static constexpr std::size_t enough_masked = 30;
    /// The standard deviation of each feature where there is no spike, for channels on which fewer
    /// spikes are masked. Empty: it is not known.
    std::span<const double> noise() const { return noise_; }
    /// @throws invalid_argument if there is not one for each feature
    void set_noise(std::vector<double> noise);

    friend bool operator==(const spike_features&, const spike_features&) = default;

private:
    static constexpr std::size_t unknown = SIZE_MAX;

    std::size_t unmasked_count(std::size_t spike) const {
        return masks_.offsets[spike + 1] - masks_.offsets[spike];
    }
    void check_masks() const;
    void check_local_values() const;
    void find_places();
    std::size_t local_count() const {
        return local_.patches.front().size() * local_.features_per_channel;
    }
    std::size_t place_of(std::size_t spike, std::size_t feature) const {
        const std::size_t width = local_.features_per_channel;
        const std::size_t channels = feature_count_ / width;
        const std::uint32_t first = places_[local_.patch_of[spike] * channels + feature / width];
        return first == UINT32_MAX ? unknown : spike * local_count() + first + feature % width;
    }

    std::size_t feature_count_ = 0;
    std::vector<double> values_;
    local_values local_{};
    std::vector<std::uint32_t> places_{};  // of each patch and channel, among a spike's values
    spike_masks masks_;
    std::vector<double> noise_{};
};

/// A selection of spikes, in the order of `spikes`.
/// @param spikes  below `from.size()`
SPIKEWEAVE_API spike_features select_spikes(const spike_features& from,
                                            std::span<const std::uint32_t> spikes);

}  // namespace spikeweave
