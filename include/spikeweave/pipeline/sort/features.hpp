#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// Options of sorting by features that a program holds in memory, or a file. Its masks may come
/// from the program.
struct feature_sort_options {
    sort_options sorting{};
    feature_read_options reading{};  ///< without `masks` and `features_per_channel`
    /// If not set, as stated in the file, else 3.
    std::optional<std::size_t> features_per_channel{};
    std::optional<double> sample_rate{};  ///< if not set, as stated in the file
};
SPIKEWEAVE_API option_list describe(feature_sort_options& options);

/// Properties of the spikes that a program supplies, instead of those stated in the file.
struct known_of_features {
    std::optional<spike_masks> masks{};
    std::vector<std::int64_t> samples{};  ///< time of each spike; empty if unknown
};

struct feature_sort_result {
    sort_result sorted{};
    feature_sort_options options{};  ///< as they were resolved
};

/// Finds units by features in memory. Masks are computed by the rule of the options, unless they
/// are known.
/// @param values  spikes × `width`
/// @throws like `sort_features`; invalid_argument if `width` is not a multiple of the stated
/// `features_per_channel`.
SPIKEWEAVE_API feature_sort_result sort_features(std::span<const double> values, std::size_t width,
                                                 known_of_features known,
                                                 feature_sort_options options,
                                                 const execution& run = {});

/// Finds units by the features of a file.
/// @throws like `read_features` and `sort_features`.
SPIKEWEAVE_API feature_sort_result sort_features(const std::filesystem::path& path,
                                                 known_of_features known,
                                                 feature_sort_options options,
                                                 const execution& run = {});

}  // namespace spikeweave
