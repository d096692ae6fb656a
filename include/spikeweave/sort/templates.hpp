#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/online.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// The stage up to which the spikes of a recording are sorted.
enum class sort_stages : std::uint8_t {
    cluster,    ///< clusters of detected spikes
    templates,  ///< then spikes are found again by the templates of the clusters
};
template <>
SPIKEWEAVE_API enum_table<sort_stages> enum_names<sort_stages>();

/// Whether clusters are split, merged and dropped after clustering.
enum class unit_merges : std::uint8_t {
    none,       ///< clusters stay as they are
    automatic,  ///< by the rules of docs/algorithms/templates.md
};
template <>
SPIKEWEAVE_API enum_table<unit_merges> enum_names<unit_merges>();

/// Times are from the spike; other figures are in standard deviations of the noise.
struct template_options {
    sort_stages stages = sort_stages::templates;
    unit_merges merge = unit_merges::automatic;
    /// Least correlation of the traces with a template at which a spike is searched for, in
    /// standard deviations of that correlation where there are no spikes.
    double match_threshold = 5;
    /// Spikes of any unit have at least and at most this amplitude, relative to the template; those
    /// of units that are seen to have smaller or larger ones may go beyond.
    double least_amplitude = 0.6;
    double most_amplitude = 1.6;
    /// A unit of fewer spikes is dropped.
    std::uint32_t least_spikes = 20;
    /// Filtered traces that are kept in memory, because they are read several times. Others are
    /// filtered again, with the same result.
    std::uint64_t kept_traces_bytes = std::uint64_t{2} << 30U;
    /// Whether the result has the templates for later recordings, which needs the basis of the
    /// detection.
    bool learns_set = false;
};
SPIKEWEAVE_API option_list describe(template_options& options);

/// The outcome for a cluster.
enum class cluster_fate : std::uint8_t { kept, split, merged, dropped };
SPIKEWEAVE_API std::string_view to_string(cluster_fate fate);

/// One decision about a cluster. Clusters of the first pass have their numbers; those that a split
/// makes get numbers above.
struct cluster_decision {
    std::uint32_t cluster = 0;
    cluster_fate fate = cluster_fate::kept;
    /// The cluster that it was merged with, or that was split off; the unit's final number if it
    /// was kept; 0: none.
    std::uint32_t other = 0;
    std::uint64_t spikes = 0;  ///< of the cluster at that time
    /// Distance of the two groups of spikes, in standard deviations along the line that separates
    /// them best.
    std::optional<double> distance{};
    /// Largest correlation of the two templates over lags, and the share of the energy of the
    /// larger one in which they differ.
    std::optional<double> similarity{};
    std::optional<double> difference{};
    /// Pairs of spikes within the refractory period, and the number expected of independent units.
    std::optional<double> coincidences{};
    std::optional<double> expected_coincidences{};
    std::string reason{};
};
template <>
struct members_of<cluster_decision> {
    static void list(const auto& to) {
        to("cluster", &cluster_decision::cluster,
           "its number after clustering; clusters that result from splits get higher numbers");
        to("decision", &cluster_decision::fate, "`split`, `merged`, `dropped` or `kept`");
        to("other", &cluster_decision::other,
           "the cluster that was split off or merged with it, or the final number of the unit that "
           "it became");
        to("spikes", &cluster_decision::spikes, "spikes of the cluster at that time");
        to("distance", &cluster_decision::distance,
           "distance of the two groups of spikes, in standard deviations");
        to("similarity", &cluster_decision::similarity,
           "correlation of the two templates at the best lag, and the share of the energy of the "
           "larger one in which they differ");
        to("difference", &cluster_decision::difference);
        to("coincidences", &cluster_decision::coincidences,
           "pairs of their spikes within a refractory period, and the number expected of "
           "independent units");
        to("expected_coincidences", &cluster_decision::expected_coincidences);
        to("reason", &cluster_decision::reason, "why, in words");
    }
};

/// Spikes that were found by templates.
struct template_sorting {
    /// All spikes are of units; ordered by frame.
    sorting sorted{};
    std::vector<float> amplitudes{};             ///< of each spike, relative to its unit's template
    std::vector<std::uint32_t> peak_channels{};  ///< of each unit
    std::vector<cluster_decision> decisions{};   ///< in the order in which they were made
    std::optional<template_set> learned{};       ///< if the options ask for it
};

/// Clusters the spikes of each channel, those that are largest there, by themselves: a mixture of
/// Gaussians on the principal components of their features on the channels around. A unit may be
/// several clusters, because `sort_by_templates` merges them. It runs on the CPU, and its result is
/// the same for any number of threads.
/// @param features  as many for each channel
/// @param options   where clusters begin, and how they are deleted, is fixed
/// @return clusters are numbered channel by channel; no iterations
/// @throws invalid_argument if an option is out of range or the sizes differ; cancelled.
SPIKEWEAVE_API clustering_result cluster_by_channel(const spike_features& features,
                                                    std::span<const recording_channel> channels,
                                                    const masked_gmm_options& options = {},
                                                    const execution& run = {});

/// Finds the spikes of a recording by templates of their units: clusters are split and merged by
/// the separation of their features, averaged, and matched to the whitened traces by matching
/// pursuit, so that overlapping spikes are resolved; the templates are averaged again from the
/// remainder of the traces, and units that are noise, a copy or a sum of others are dropped. Spikes
/// that no template explains are detected and clustered once more, to find units that were missed.
/// The devices of `run` filter the traces, detect, and correlate traces with templates. The result
/// is the same on any number of threads and devices, and on none: the matching is done in integers.
/// @param features  of the detected spikes, `features_per_channel` for each channel
/// @param clusters  of these spikes
/// @param detection  the options of their detection
/// @throws invalid_argument if an option is out of range or the sizes differ; io_error;
/// device_error; cancelled.
///
/// docs/algorithms/templates.md has the formulas. Pachitariu et al. 2024,
/// doi:10.1038/s41592-024-02232-7; Yger et al. 2018, doi:10.7554/eLife.34518; Mallat and Zhang
/// 1993, doi:10.1109/78.258082.
SPIKEWEAVE_API template_sorting sort_by_templates(
    const recording& from, const spike_features& features, std::size_t features_per_channel,
    const sorting& clusters, const detection_options& detection,
    const template_options& options = {}, const execution& run = {});

/// Finds units that known templates lack: the spikes that these explain are subtracted from the
/// traces, and what is left is detected, clustered by channel and sorted by templates like a
/// recording. Units that consist of the remainders of one known unit are dropped.
/// @param known      found by the templates of `set`, by frame; units are numbered from 1
/// @param unexplained  of `online_sorter`; spikes within 0.5 ms, of units on these channels, are
/// not subtracted
/// @param detection  the options of the detection; its basis is not used
/// @return the spikes of the new units, which are numbered from 1
/// @throws as `sort_by_templates`
SPIKEWEAVE_API template_sorting find_new_units(const recording& from, const template_set& set,
                                               const template_sorting& known,
                                               std::span<const unexplained_detection> unexplained,
                                               const detection_options& detection,
                                               const template_options& options = {},
                                               const execution& run = {});

/// Appends new units to a set, whose own units keep their templates, numbers and thresholds.
/// @param found  the spikes of its units and of the new ones, whose numbers follow theirs
/// @param unexplained  as of `find_new_units`; likewise, spikes beside them are left out
/// @param moved  the motion that was undone when they were found; null: none
/// @return without labels
/// @throws io_error; cancelled.
SPIKEWEAVE_API template_set with_new_units(const template_set& set, const recording& from,
                                           const template_sorting& found,
                                           std::span<const unexplained_detection> unexplained,
                                           const std::shared_ptr<const probe_motion>& moved,
                                           const template_options& options = {},
                                           const execution& run = {});

}  // namespace spikeweave
