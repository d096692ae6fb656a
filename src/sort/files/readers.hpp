#pragma once

// Declarations that the readers of features share. Each format has one source file.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "sort/files/klustakwik_files.hpp"
#include "spikeweave/sort/files.hpp"

namespace spikeweave::sort {

/// Reads klusta's `.kwx`, and the `.kwik` beside it if there is one. @throws io_error, always in a
/// build without HDF5
feature_file read_kwik(const std::filesystem::path& path, const feature_read_options& how,
                       const execution& run);
/// Reads the principal components of a Phy folder; `path` is the folder or its `params.py`.
feature_file read_phy_features(const std::filesystem::path& path, const feature_read_options& how,
                               const execution& run);

/// Makes features (NaN: missing) with masks by a rule; records in `file` how the masks were made,
/// and warnings about them.
spike_features with_made_masks(number_table table, mask_rule rule, std::size_t features_per_channel,
                               feature_file& file, const execution& run);

/// @throws io_error naming `path` unless each spike has a time and none is negative.
void check_samples(const feature_file& file, const std::filesystem::path& path);

/// Stores clusters with arbitrary numbers as labels of `file`: 0 if `is_noise`, the others counted
/// from 1 in ascending order of their numbers.
template <class IsNoise>
void set_labels(const std::vector<std::int64_t>& clusters, const IsNoise& is_noise,
                feature_file& file) {
    std::vector<std::int64_t>& numbers = file.label_numbers;
    numbers = clusters;
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    std::erase_if(numbers, is_noise);
    file.labels.reserve(clusters.size());
    for (const std::int64_t cluster : clusters) {
        const auto at = std::lower_bound(numbers.begin(), numbers.end(), cluster);
        const bool is_unit = at != numbers.end() && *at == cluster;
        file.labels.push_back(is_unit ? static_cast<std::uint32_t>(at - numbers.begin()) + 1 : 0);
    }
}

}  // namespace spikeweave::sort
