#include "spikeweave/report/output_place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/result_folder.hpp"
#include "report/result_files.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace report {
namespace {

// A result of tracking has the spikes of each session.
std::vector<std::string_view> tracking_files() {
    constexpr std::size_t most_sessions = 1000;
    static const std::vector<std::string> spikes = [] {
        std::vector<std::string> out;
        for (std::size_t s = 1; s <= most_sessions; ++s)
            out.push_back(fmt::format("spikes/{}.npz", s));
        return out;
    }();
    std::vector<std::string_view> out{"neurons.tsv", "matches.tsv", "relations.tsv",
                                      "sessions.tsv"};
    out.insert(out.end(), spikes.begin(), spikes.end());
    return out;
}

// The files of its own that a kind of result can have. The pictures that only older results have
// are named as well, so that `--overwrite` replaces those.
std::vector<std::string_view> own_files(result_kind kind) {
    switch (kind) {
        case result_kind::episodes:
            return {"episodes.tsv", "circuit.tsv",         "circuit.graphml",
                    "circuit.svg",  "occurrences.tsv",     "pairs.tsv",
                    "windows.tsv",  "window_episodes.tsv", "window_circuits.tsv",
                    "untested.tsv", "change_points.tsv",   "lags.tsv"};
        case result_kind::spade:
            return {"patterns.tsv", "signatures.tsv", "spectrum.tsv", "funnel.tsv",
                    "patterns.svg", "spectrum.svg",   "patterns.nwb"};
        case result_kind::sort:
            return {"sorting.npz",
                    "sorting.clu.1",
                    "sorting.res.1",
                    "spikes.npz",
                    "spikes.nwb",
                    "units.tsv",
                    "iterations.tsv",
                    "merges.tsv",
                    "motion.tsv",
                    "motion.svg",
                    "waveforms.npz",
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
        case result_kind::replay:
            return {"replay.tsv", "events.tsv"};
        case result_kind::assemblies:
            return {"assemblies.tsv", "activations.tsv", "search.tsv"};
        case result_kind::bursts:
            return {"summary.tsv", "units.tsv", "network_bursts.tsv", "bursts.tsv"};
        case result_kind::episode_differences:
            return {"differences.tsv", "differences.graphml", "differences.svg"};
        case result_kind::pattern_differences:
            return {"differences.tsv"};
        case result_kind::tracking:
            return tracking_files();
        case result_kind::recording:
            return {"binary.json",    "probe.json", "properties/group.npy",
                    "si_folder.json", "traces.raw", "truth.npz",
                    "units.tsv",      "motion.tsv"};
        case result_kind::part:
            return {"part.json"};
    }
    return {};
}

}  // namespace

std::vector<std::string_view> files_of(result_kind kind) {
    std::vector<std::string_view> files = own_files(kind);
    if (kind != result_kind::recording && kind != result_kind::part)
        files.insert(files.end(), {"run.json", "result.json", "report.html"});
    return files;
}

}  // namespace report

namespace {

namespace fs = std::filesystem;

// The first folder above a place that is there, or a file that is in the way.
fs::path nearest_above(const fs::path& path) {
    std::error_code ignored;
    // The name "out/" means the folder "out".
    const fs::path whole = fs::absolute(path).lexically_normal();
    fs::path above = (whole.has_filename() ? whole : whole.parent_path()).parent_path();
    while (!fs::exists(fs::symlink_status(above, ignored)) && above.has_relative_path())
        above = above.parent_path();
    return above;
}

void check_place(const fs::path& path, bool may_replace) {
    const std::string shown = path.string();
    if (path.empty()) throw io_error("the name of the output is empty");
    if (path == "-")
        throw io_error("results are not written to standard output: expected a name, found '-'");
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored)) && !may_replace)
        throw io_error(fmt::format("{} exists (`overwrite` replaces it)", shown));
    const fs::path above = nearest_above(path);
    if (!fs::is_directory(above, ignored))
        throw io_error(fmt::format("{} cannot be written: {} is no folder", shown, above.string()));
    if (::access(above.c_str(), W_OK | X_OK) != 0)
        throw io_error(fmt::format("{} cannot be written: {}: {}", shown, above.string(),
                                   std::generic_category().message(errno)));
}

}  // namespace

void check_output_place(const fs::path& path, bool may_replace) {
    check_place(path, may_replace);
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        throw io_error(
            fmt::format("{} is a folder, expected the name of a file to write", path.string()));
}

void check_result_place(const fs::path& folder, bool may_replace, result_kind kind) {
    check_place(folder, may_replace);
    if (fs::exists(fs::symlink_status(folder)))
        io::check_replaceable(folder, report::files_of(kind));
}

}  // namespace spikeweave
