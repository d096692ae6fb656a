#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/record/mean_waveforms.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/sort/incremental.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/sorting_model.hpp"
#include "spikeweave/sort/templates.hpp"

namespace spikeweave {

/// The complete result of `spikeweave sort`, ready to be written.
struct sorting_report {
    sorting sorted{};
    std::vector<sorted_unit> units{};
    /// Details of the search; its labels are those of `sorted` and may be empty here.
    clustering_result search{};
    std::uint64_t clustered_spikes = 0;  ///< spikes that the search was for
    /// The outcome for each cluster, if spikes were found by templates.
    std::vector<cluster_decision> decisions{};
    /// Fits of an incremental sorting.
    std::vector<incremental_fit> fits{};
    std::size_t features = 0;
    /// The origin of the masks: the name of a file or of a rule.
    std::string masks_from{};
    /// Other files read besides the features.
    std::vector<input_record> more_input{};
    /// Label of unit 1 in `sorting.clu.1`, where noise is 1: 2, or 3 as in klustakwik2.
    std::uint32_t first_label = 2;
    run_record run{};

    /// Columns of the features are channel * features_per_channel + component.
    std::size_t features_per_channel = 3;
    /// Positions, if known; else empty.
    std::vector<recording_channel> channels{};
    /// Mean waveforms of noise and of each unit, for recordings; else without groups.
    mean_waveforms waveforms{};
    std::vector<std::uint32_t> peak_channels{};  ///< of each unit; empty: not known
    /// The estimated motion of the tissue along the probe; empty: none was estimated.
    probe_motion motion{};
    /// A file of flat samples that Phy can show, and the position of the first one; empty: none.
    std::filesystem::path raw{};
    std::uint64_t raw_offset_bytes = 0;
    /// For features from a `.kwik`: `sorting.kwik` is written.
    std::optional<kwik_origin> kwik{};
    /// The features for `phy/` and for the amplitude and depth of each spike; without them neither
    /// is written.
    std::optional<spike_features> phy_features{};
    bool with_phy = true;
    /// The amplitude of each spike, relative to its unit's template; empty without templates.
    std::vector<float> amplitudes{};
    /// Write `spikes.nwb`.
    bool nwb = false;
    /// The model of the units and its file, which appears together with the folder; null: none.
    std::optional<sorting_model> model{};
    std::filesystem::path model_path{};
    /// The templates of the units and their file, likewise.
    std::optional<template_set> learned{};
    std::filesystem::path templates_path{};
    /// Whether the folder gets `report.html`, the page of report/page.hpp, if there are at most ten
    /// million spikes.
    bool with_page = true;
};

/// The report of a result, without its command and input files.
/// @param run  ranks; its threads are ignored, because those of the options were used
SPIKEWEAVE_API sorting_report report_of(sort_result result, const execution& run = {});

/// The result in a sentence: the units by their labels, and the spikes in them. A second one has
/// the number of warnings, if any.
SPIKEWEAVE_API std::string verdict_of(const sorting_report& report);

/// Writes `sorting.npz`, `sorting.clu.1`, `units.tsv`, `iterations.tsv`, `waveforms.npz`,
/// `run.json` and, on request, `report.html`; if spikes were
/// found by templates `merges.tsv`; if times are known `sorting.res.1` and, with the sample rate,
/// `spikes.npz` (for every command that reads spikes), `phy/` and, on request, `spikes.nwb` and
/// `sorting.kwik` with `.kwx` and
/// `.prm`, and `motion.tsv` if the motion was estimated; docs/results.md describes
/// their columns. The files are identical byte for byte for the same input, parameters and seed;
/// only `run.json` holds times, memory and threads, which `report.html` shows.
///
/// The folder is written under a temporary name and renamed, so it is complete or absent. So are
/// the files of the model and of the templates, which are complete on disk before any gets its
/// name.
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; cancelled.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder, const sorting_report& report,
                                 bool overwrite = false, const execution& run = {});

/// Writes the files of the model and of the templates alone, if there are any.
/// @throws io_error
SPIKEWEAVE_API void write_models(const sorting_report& report, bool overwrite = false);

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const sorting_report& report, const execution& run = {});

/// Everything except the labels as one JSON document.
SPIKEWEAVE_API std::string to_json(const sorting_report& report);

/// The result as a page of text for a terminal.
SPIKEWEAVE_API std::string summarize(const sorting_report& report);

/// Reports where the result was written, which spikes are in `spikes.npz` and why it may be
/// missing. Names of options stand between backquotes.
SPIKEWEAVE_API std::string summarize_files(const sorting_report& report,
                                           const std::filesystem::path& folder);

}  // namespace spikeweave
