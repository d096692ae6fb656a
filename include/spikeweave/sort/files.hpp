#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/masks.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

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
    /// Which one of a `.kwik` or `.kwx` that holds several.
    std::optional<std::uint32_t> channel_group{};
};

struct feature_file {
    spike_features features;
    /// From the time column, a `.res.N` beside the `.fet.N`, or the array `samples`; else empty.
    std::vector<std::int64_t> samples{};
    /// Of a `.kwik` that says it: how far each peak is from its sample, 0 to 1; else empty.
    std::vector<float> fractions{};
    /// In Hz, of a file that says it; else 0.
    double sample_rate = 0;
    /// The clusters that the file holds (`.kwik`, Phy), one a spike: 0 what it calls noise, then
    /// from 1 in the order of its own numbers. Empty: none.
    std::vector<std::uint32_t> labels{};
    std::vector<std::int64_t> label_numbers{};  ///< the file's own, of labels from 1 on
    /// Of a file that says it (`.kwik`, Phy); else empty.
    std::vector<recording_channel> channels{};
    /// Of a file that says it (`.kwx`, Phy); else 0.
    std::size_t features_per_channel = 0;
    /// The group that was read of a `.kwik` or `.kwx`.
    std::optional<std::uint32_t> channel_group{};
    /// Where masks came from: a file's name, or a rule's.
    std::string masks_from{};
    /// Everything that was read, the features first.
    std::vector<std::filesystem::path> files{};
    /// Whole sentences.
    std::vector<std::string> warnings{};
};

/// Reads KlustaKwik's `.fet.N` (text), klusta's `.kwx` with its `.kwik` (needs SPIKEWEAVE_HDF5),
/// the features of a Phy folder, or an `.npz` with the arrays `features`, and where there are any
/// `masks`, `samples`, `sample_rate`; docs/formats.md has them all.
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
/// An `.npz`: `labels` (0 noise, then units), `samples`, `fractions` and `sample_rate` where known.
/// @throws io_error
void write_sorting(const std::filesystem::path& path, const sorting& sorted);
/// What `write_sorting` writes; units are those up to the largest label. @throws io_error
sorting read_sorting(const std::filesystem::path& path);

struct kwik_content {
    const sorting& sorted;
    /// Unit u at u - 1; empty: not known.
    std::span<const unit_quality> quality{};
    /// The file that the features came from, and the group in it.
    std::filesystem::path features{};
    std::uint32_t channel_group = 0;
    /// Empty: not known.
    std::span<const recording_channel> channels{};
};

/// klusta's `BASE.kwik`: spikes, clusters (0 is noise, units as everywhere) and channels; beside it
/// `BASE.kwx`, in which the features are a link to where they came from, and `BASE.prm` with the
/// sample rate. @throws io_error; invalid_argument without times.
void write_kwik(const std::filesystem::path& path, const kwik_content& content);

}  // namespace spikeweave
