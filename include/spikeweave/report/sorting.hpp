#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/mean_waveforms.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/sort/incremental.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/sorting.hpp"

namespace spikeweave {

/// One unit of a sorting.
struct sorted_unit {
    std::uint64_t spikes = 0;
    /// Mean number of features that a spike of it has unmasked.
    double unmasked = 0;
    /// The feature, from 0, with the largest sum of its spikes' masks.
    std::uint32_t peak_feature = 0;
    /// Left to the caller: `measure_quality`.
    unit_quality quality{};
};

/// Where the features of a `.kwik` or `.kwx` were.
struct kwik_origin {
    std::filesystem::path features{};
    std::uint32_t channel_group = 0;
};

/// Unit u at u - 1. @throws invalid_argument if the labels are not those of the spikes.
std::vector<sorted_unit> describe_units(const spike_features& features, const sorting& sorted);

/// All that `spikeweave sort` found, ready to be written.
struct sorting_report {
    sorting sorted{};
    std::vector<sorted_unit> units{};
    /// How it was found; its labels are `sorted`'s and may be empty here.
    clustered_spikes search{};
    /// Of spikes that were sorted one after another.
    std::vector<incremental_fit> fits{};
    std::size_t features = 0;
    /// Where the masks came from: a file's name, or a rule's.
    std::string masks_from{};
    /// What was read beside the features.
    std::vector<input_record> more_input{};
    /// Of unit 1 in `sorting.clu.1`, where noise is 1: 2, or klustakwik2's 3.
    std::uint32_t first_label = 2;
    run_record run{};

    /// Columns of the features are channel * features_per_channel + component.
    std::size_t features_per_channel = 3;
    /// Where they are known; else empty.
    std::vector<recording_channel> channels{};
    /// Of noise and of each unit, of recordings; else without groups.
    mean_waveforms waveforms{};
    /// Flat samples that Phy can show, and where they begin; empty: none.
    std::filesystem::path raw{};
    std::uint64_t raw_offset_bytes = 0;
    /// Of features that came from one: `sorting.kwik` is written.
    std::optional<kwik_origin> kwik{};
    /// What `phy/` is made of. Not owned; none: it is not written.
    const spike_features* for_phy = nullptr;
    /// Write `spikes.nwb`.
    bool nwb = false;
};

/// Writes `sorting.npz`, `sorting.clu.1`, `units.tsv`, `iterations.tsv`, `run.json`, and where
/// times are known `sorting.res.1` and, with the sample rate, `spikes.npz`, which every verb reads
/// that takes spikes, `phy/` and, when asked for, `spikes.nwb` and `sorting.kwik` with `.kwx` and
/// `.prm`; docs/results.md has their columns. The files are the same byte for byte for
/// the same input, parameters and seed; only `run.json` holds times, memory and threads.
///
/// The folder is made aside and renamed, so that it is whole or absent.
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; cancelled.
void write_sorting_report(const std::filesystem::path& folder, const sorting_report& report,
                          bool overwrite = false, const execution& run = {});

/// Everything but the labels as one JSON document.
std::string to_json(const sorting_report& report);

/// The result in a page of text for a terminal.
std::string summarize(const sorting_report& report);

}  // namespace spikeweave
