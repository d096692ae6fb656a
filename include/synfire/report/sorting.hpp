#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "synfire/core/execution.hpp"
#include "synfire/report/run_record.hpp"
#include "synfire/sort/incremental.hpp"
#include "synfire/sort/masked_gmm.hpp"
#include "synfire/sort/sorting.hpp"

namespace synfire {

/// One unit of a sorting.
struct sorted_unit {
    std::uint64_t spikes = 0;
    /// Mean number of features that a spike of it has unmasked.
    double unmasked = 0;
    /// The feature, from 0, with the largest sum of its spikes' masks.
    std::uint32_t peak_feature = 0;
};

/// Unit u at u - 1. @throws invalid_argument if the labels are not those of the spikes.
std::vector<sorted_unit> describe_units(const spike_features& features, const sorting& sorted);

/// All that `synfire sort` found, ready to be written.
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
};

/// Writes `sorting.npz`, `sorting.clu.1`, `units.tsv`, `iterations.tsv`, `run.json`, and where
/// times are known `sorting.res.1` and, with the sample rate, `spikes.npz`, which every verb reads
/// that takes spikes; docs/results.md has their columns. The files are the same byte for byte for
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

}  // namespace synfire
