#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "synfire/core/execution.hpp"
#include "synfire/sort/masks.hpp"
#include "synfire/sort/sorting.hpp"
#include "synfire/sort/spike_features.hpp"

namespace synfire {

struct feature_reading {
    /// Masks (`.fmask.N`, `.mask.N`). Empty: those of an `.npz`, else the file of the same name
    /// beside a `.fet.N`, else they are made.
    std::filesystem::path masks{};
    /// Make masks in this way, whatever there is.
    std::optional<mask_rule> rule{};
    std::size_t features_per_channel = 3;
    /// Whether the last column of a `.fet` is the time in samples. Not said: it is if it is whole
    /// and never falls in at least 20 spikes.
    std::optional<bool> time_column{};
};

struct feature_file {
    spike_features features;
    /// From the time column, a `.res.N` beside the `.fet.N`, or the array `samples`; else empty.
    std::vector<std::int64_t> samples{};
    /// Of an `.npz` that says it, in Hz; else 0.
    double sample_rate = 0;
    /// Where masks came from: a file's name, or a rule's.
    std::string masks_from{};
    /// Everything that was read, the features first.
    std::vector<std::filesystem::path> files{};
    /// Whole sentences.
    std::vector<std::string> warnings{};
};

/// Reads KlustaKwik's `.fet.N` (text) or an `.npz` with the arrays `features`, and where there are
/// any `masks`, `samples`, `sample_rate`; docs/formats.md has both.
/// @throws io_error naming the file, the line or spike, the column, what was found and expected.
feature_file read_features(const std::filesystem::path& path, const feature_reading& how = {},
                           const execution& run = {});

/// The clusters of a `.clu.N` as they stand there, one a spike; the number in the first line is not
/// looked at, because programs write different ones.
/// @throws io_error, also unless there are `expected` of them.
std::vector<std::int64_t> read_clusters(const std::filesystem::path& path, std::size_t expected,
                                        const execution& run = {});

/// KlustaKwik's `.clu.N`: the number of different clusters, then one a spike. Noise is 1, unit u is
/// `first_unit` + u - 1. The file is whole or absent. @throws io_error
void write_clusters(const std::filesystem::path& path, const sorting& sorted,
                    std::uint32_t first_unit = 2);
/// `.res.N`: a sample number a line. @throws io_error, invalid_argument without samples.
void write_samples(const std::filesystem::path& path, const sorting& sorted);
/// An `.npz`: `labels` (0 noise, then units), `samples` and `sample_rate` where known. @throws
/// io_error
void write_sorting(const std::filesystem::path& path, const sorting& sorted);
/// What `write_sorting` writes; units are those up to the largest label. @throws io_error
sorting read_sorting(const std::filesystem::path& path);

}  // namespace synfire
