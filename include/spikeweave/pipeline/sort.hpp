#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/run_options.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/mean_waveforms.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/incremental.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/sorting_model.hpp"
#include "spikeweave/sort/spike_features.hpp"
#include "spikeweave/sort/templates.hpp"

/// The whole analysis from a recording, or from features, to units and their quality, as one call.
/// The command `spikeweave sort` and Python's `spikeweave.sort` and `sort_features` make the same
/// calls.
namespace spikeweave {

/// Clusters that a search begins with: those of a file, or labels.
struct start_clusters {
    /// A `.clu.N`, in which 0 and 1 are noise; an `.npz` as `write_sorting` writes it; or the file
    /// of the features itself, if it holds clusters (`.kwik`, Phy).
    std::filesystem::path file{};
    /// The label of each spike instead; 0 is noise.
    std::vector<std::uint32_t> labels{};

    bool empty() const { return file.empty() && labels.empty(); }
};

template <>
struct SPIKEWEAVE_API option_codec<start_clusters> {
    static constexpr auto kind = option_kind::text;
    static constexpr bool may_be_unset = true;
    static option_value show(const start_clusters& field);
    static start_clusters read(const option_value& value);
};

/// All options of the analysis, with their defaults.
struct sort_options {
    detection_options detection{};  ///< for recordings only
    motion_options motion{};        ///< for recordings only
    masked_gmm_options search{};
    /// For recordings only. Spikes that are assigned by a model, one after another, or sorted again
    /// in some clusters are not matched.
    template_options templates{};
    /// For recordings only. A file of templates: the spikes of its units are found, with their
    /// numbers, and then units that these lack, which get numbers above; empty: none.
    std::filesystem::path known_templates{};
    /// For recordings only. The file to write the templates of the units to; empty: none.
    std::filesystem::path save_templates{};
    /// Clusters to begin with; empty: by masks.
    start_clusters start{};
    /// Clusters of `start`, by the numbers that they have there, to find units in; all others stay.
    /// Empty: units are found in all spikes.
    std::vector<std::uint32_t> only_clusters{};
    /// Sort one spike after another.
    bool incremental = false;
    std::size_t first_fit = incremental_options{}.first_fit;
    double refit_above = incremental_options{}.refit_above;
    /// A file of a model to whose units spikes are assigned; empty: none.
    std::filesystem::path model{};
    /// The file to write the model of the units to; empty: none.
    std::filesystem::path save_model{};
    /// Whether these files are written when the units are known; otherwise `sort_result::model` and
    /// `learned` have their content, for results that appear together with it.
    bool writes_model = true;
    quality_options quality{};
    run_options run{};
};

/// All options, for `sort_recording`.
SPIKEWEAVE_API option_list describe(sort_options& options);
/// Those that `sort_features` uses.
SPIKEWEAVE_API option_list describe_feature_sort(sort_options& options);

/// The units of spikes, their quality, and the known properties of the spikes.
struct sort_result {
    sorting sorted{};
    /// Details of the search; its labels are those of `sorted` and are empty here.
    clustering_result search{};
    std::uint64_t clustered_spikes = 0;  ///< spikes that the search was for
    /// The outcome for each cluster, if spikes were found by templates; and the amplitude of each
    /// spike, relative to its unit's template.
    std::vector<cluster_decision> decisions{};
    std::vector<float> amplitudes{};
    /// Fits of an incremental sorting.
    std::vector<incremental_fit> fits{};
    /// The model for `sort_options::save_model`, if it is not written yet.
    std::optional<sorting_model> model{};
    /// The templates for `sort_options::save_templates`, likewise.
    std::optional<template_set> learned{};
    /// Unit u is at index u - 1.
    std::vector<sorted_unit> units{};
    spike_features features{};
    /// Columns of the features are channel * features_per_channel + component.
    std::size_t features_per_channel = 1;
    /// The origin of the masks: the name of a file or of a rule, or "detection".
    std::string masks_from{};
    /// Positions, if known; else empty.
    std::vector<recording_channel> channels{};
    /// Mean waveforms of noise and of each unit, for recordings; else without groups.
    mean_waveforms waveforms{};
    /// The motion of the tissue along the probe, for recordings; empty if it was not estimated. It
    /// was undone if the options request it. Its times are of the recording's clock, as those of
    /// spikes.
    probe_motion motion{};
    /// A file of flat samples that Phy can show, and the position of the first one; empty: none.
    std::filesystem::path raw{};
    std::uint64_t raw_offset_bytes = 0;
    /// For features from a `.kwik`.
    std::optional<kwik_origin> kwik{};
    /// The files that were read, first those of the recording or the features.
    std::vector<std::filesystem::path> files{};
    /// The options as they were resolved: with the reference, and the strategy and the device that
    /// ran. They repeat the analysis.
    sort_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// The channel on which the mean waveform of each unit is largest; without waveforms, the one on
/// which most of its spikes have a mask.
SPIKEWEAVE_API std::vector<std::uint32_t> peak_channels(const sort_result& result);

/// Finds spikes in a recording and units among them.
/// @param run  progress and cancellation; its threads and devices are ignored, because those of the
/// options are used
/// @throws invalid_argument if an option is out of range or the recording has no spikes; io_error;
/// device_error; cancelled.
SPIKEWEAVE_API sort_result sort_recording(const recording& from, const sort_options& options = {},
                                          const execution& run = {});

/// Finds units among spikes by their features. Options of the detection are ignored.
/// @param from  its `features_per_channel` may be 0: each feature then counts as a channel
SPIKEWEAVE_API sort_result sort_features(feature_file from, const sort_options& options = {},
                                         const execution& run = {});

/// Writes a result with times as a folder for Phy; see `write_phy` of spikeweave/sort/phy.hpp.
SPIKEWEAVE_API void write_phy(const std::filesystem::path& folder, const sort_result& result,
                              const execution& run = {});

}  // namespace spikeweave
