#include "report/result_files.hpp"

#include <array>

namespace spikeweave::report {
namespace {

// The pictures that only older results have are named as well, so that `--overwrite` replaces
// those.
constexpr std::array<std::string_view, 15> episode_files{"episodes.tsv",
                                                         "circuit.tsv",
                                                         "circuit.graphml",
                                                         "circuit.svg",
                                                         "run.json",
                                                         "result.json",
                                                         "occurrences.tsv",
                                                         "pairs.tsv",
                                                         "report.html",
                                                         "windows.tsv",
                                                         "window_episodes.tsv",
                                                         "window_circuits.tsv",
                                                         "untested.tsv",
                                                         "change_points.tsv",
                                                         "lags.tsv"};
constexpr std::array<std::string_view, 10> pattern_files{
    "patterns.tsv", "signatures.tsv", "spectrum.tsv", "funnel.tsv",  "patterns.svg",
    "spectrum.svg", "patterns.nwb",   "run.json",     "result.json", "report.html"};
constexpr std::array<std::string_view, 30> sorting_files{"sorting.npz",
                                                         "sorting.clu.1",
                                                         "sorting.res.1",
                                                         "spikes.npz",
                                                         "spikes.nwb",
                                                         "units.tsv",
                                                         "iterations.tsv",
                                                         "merges.tsv",
                                                         "motion.tsv",
                                                         "motion.svg",
                                                         "run.json",
                                                         "result.json",
                                                         "waveforms.npz",
                                                         "report.html",
                                                         "sorting.kwik",
                                                         "sorting.kwx",
                                                         "sorting.prm",
                                                         "phy/params.py",
                                                         "phy/spike_times.npy",
                                                         "phy/spike_templates.npy",
                                                         "phy/spike_clusters.npy",
                                                         "phy/amplitudes.npy",
                                                         "phy/channel_map.npy",
                                                         "phy/channel_shanks.npy",
                                                         "phy/channel_positions.npy",
                                                         "phy/templates.npy",
                                                         "phy/pc_features.npy",
                                                         "phy/pc_feature_ind.npy",
                                                         "phy/cluster_group.tsv",
                                                         "phy/cluster_quality.tsv"};
constexpr std::array<std::string_view, 5> replay_files{"replay.tsv", "events.tsv", "run.json",
                                                       "result.json", "report.html"};
constexpr std::array<std::string_view, 6> assembly_files{
    "assemblies.tsv", "activations.tsv", "search.tsv", "run.json", "result.json", "report.html"};
constexpr std::array<std::string_view, 6> episode_difference_files{
    "differences.tsv", "differences.graphml", "differences.svg",
    "run.json",        "result.json",         "report.html"};
constexpr std::array<std::string_view, 4> pattern_difference_files{"differences.tsv", "run.json",
                                                                   "result.json", "report.html"};
constexpr std::array<std::string_view, 8> recording_files{
    "binary.json",    "probe.json", "properties/group.npy",
    "si_folder.json", "traces.raw", "truth.npz",
    "units.tsv",      "motion.tsv"};
constexpr std::array<std::string_view, 1> part_files{"part.json"};

}  // namespace

std::span<const std::string_view> files_of(result_kind kind) {
    switch (kind) {
        case result_kind::episodes:
            return episode_files;
        case result_kind::spade:
            return pattern_files;
        case result_kind::sort:
            return sorting_files;
        case result_kind::replay:
            return replay_files;
        case result_kind::assemblies:
            return assembly_files;
        case result_kind::episode_differences:
            return episode_difference_files;
        case result_kind::pattern_differences:
            return pattern_difference_files;
        case result_kind::recording:
            return recording_files;
        case result_kind::part:
            return part_files;
    }
    return {};
}

}  // namespace spikeweave::report
