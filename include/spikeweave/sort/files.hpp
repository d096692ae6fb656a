#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/masks.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct feature_read_options {
    /// Masks (`.fmask.N`, `.mask.N`). Empty: those of an `.npz`, else the file of the same name
    /// beside a `.fet.N`, else masks are computed.
    std::filesystem::path masks{};
    /// Compute masks by this rule, even if there are masks.
    std::optional<mask_rule> mask{};
    std::size_t features_per_channel = 3;
    /// Whether the last column of a `.fet` is the time in samples. Default: it is if its values are
    /// whole numbers that never decrease over at least 20 spikes.
    std::optional<bool> time_column{};
    /// Channel group to read if a `.kwik` or `.kwx` contains several.
    std::optional<std::uint32_t> channel_group{};
};

/// All but `features_per_channel`, which the detection of spikes has as well.
SPIKEWEAVE_API option_list describe(feature_read_options& options);

/// The features of unsorted spikes, and the known properties of the spikes.
struct feature_file {
    /// As it was given to `read_features`; empty if the features do not come from a file.
    std::filesystem::path path{};
    spike_features features{};
    /// From the time column, a `.res.N` beside the `.fet.N`, or the array `samples`; else empty.
    std::vector<std::int64_t> samples{};
    /// Offset of each peak from its sample, 0 to 1, if a `.kwik` has it; else empty.
    std::vector<float> fractions{};
    /// In Hz, if the file has it; else 0.
    double sample_rate = 0;
    /// The time of the recording's first sample, if a folder of Phy has it; else 0.
    duration begin{};
    /// The clusters that the file contains (`.kwik`, Phy), one per spike: 0 for noise, then from 1
    /// in the order of the file's numbers. Empty: none.
    std::vector<std::uint32_t> labels{};
    std::vector<std::int64_t> label_numbers{};  ///< the file's own, of labels from 1 on
    /// Positions, if the file has them (`.kwik`, Phy); else empty.
    std::vector<recording_channel> channels{};
    /// Features per channel, if the file states it (`.kwx`, Phy); else 0.
    std::size_t features_per_channel = 0;
    /// The group read from a `.kwik` or `.kwx`.
    std::optional<std::uint32_t> channel_group{};
    /// The origin of the masks: the name of a file or of a rule.
    std::string masks_from{};
    /// All files read, the features first.
    std::vector<std::filesystem::path> files{};
    /// Warnings, as full sentences.
    std::vector<std::string> warnings{};
};

/// Reads KlustaKwik's `.fet.N` (text), klusta's `.kwx` with its `.kwik` (needs SPIKEWEAVE_HDF5),
/// the features of a Phy folder, or an `.npz` with the arrays `features`, and optionally `masks`,
/// `samples`, `sample_rate`; see docs/formats.md.
/// @throws io_error naming the file, the line or spike, the column, what was found and expected.
SPIKEWEAVE_API feature_file read_features(const std::filesystem::path& path,
                                          const feature_read_options& how = {},
                                          const execution& run = {});

/// The clusters of a `.clu.N`, unchanged, one per spike; the number in the first line is ignored,
/// because programs write different ones.
/// @throws io_error, also unless there are `expected` of them.
SPIKEWEAVE_API std::vector<std::int64_t> read_clusters(const std::filesystem::path& path,
                                                       std::size_t expected,
                                                       const execution& run = {});

/// KlustaKwik's `.clu.N`: the number of different clusters, then one per spike. Noise is 1, unit u
/// is `first_unit` + u - 1. The file is written atomically. @throws io_error
SPIKEWEAVE_API void write_clusters(const std::filesystem::path& path, const sorting& sorted,
                                   std::uint32_t first_unit = 2);
/// `.res.N`: one sample number per line. @throws io_error, invalid_argument without samples.
SPIKEWEAVE_API void write_samples(const std::filesystem::path& path, const sorting& sorted);
/// An `.npz`: `labels` (0 noise, then units), `samples`, `fractions` and `sample_rate` where known.
/// @throws io_error
SPIKEWEAVE_API void write_sorting(const std::filesystem::path& path, const sorting& sorted);
/// Reads the output of `write_sorting`; units are those up to the largest label. @throws io_error
SPIKEWEAVE_API sorting read_sorting(const std::filesystem::path& path);

/// The origin of the features of a `.kwik` or `.kwx`.
struct kwik_origin {
    std::filesystem::path features{};
    std::uint32_t channel_group = 0;
};

struct kwik_content {
    const sorting& sorted;
    /// Unit u is at index u - 1; empty: unknown.
    std::span<const unit_quality> quality{};
    /// The file that the features came from, and the group in it.
    std::filesystem::path features{};
    std::uint32_t channel_group = 0;
    /// Empty: not known.
    std::span<const recording_channel> channels{};
};

/// klusta's `BASE.kwik`: spikes, clusters (0 is noise, unit u is cluster u) and channels; beside it
/// `BASE.kwx`, in which the features are a link to their source, and `BASE.prm` with the
/// sample rate. @throws io_error; invalid_argument without times.
SPIKEWEAVE_API void write_kwik(const std::filesystem::path& path, const kwik_content& content);

}  // namespace spikeweave
