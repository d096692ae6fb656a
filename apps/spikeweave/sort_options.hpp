#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/spikeweave.hpp"

namespace spikeweave::cli {

struct sort_options {
    std::string path{};
    /// Its sample rate is that of features, too; 0: what the file says.
    recording_read_options recording{};
    detection_options detection{};
    feature_read_options how{};
    /// The options that were given and make sense for one kind of input only.
    std::vector<std::string> given_of_features{};
    std::vector<std::string> given_of_recordings{};
    /// What the input turned out to be.
    bool of_recording = false;
    /// A `.clu.N` or `.npz` to begin with; empty: by masks.
    std::string start{};
    /// Of `start`, as they stand there; empty: all spikes are sorted.
    std::vector<std::uint32_t> only_clusters{};
    /// One spike after another.
    bool incremental = false;
    double drift = incremental_options{}.drift;
    std::uint32_t first_fit = static_cast<std::uint32_t>(incremental_options{}.first);
    std::string model{};
    std::string save_model{};
    /// Empty: the terminal's result is all.
    std::string to{};
    bool overwrite = false;
    bool json = false;
    bool klustakwik2_labels = false;
    masked_gmm_options search{};
    quality_options quality{};
    bool phy = true;
    bool nwb = false;
    int threads = 0;
    std::optional<std::vector<int>> devices{std::in_place};  ///< nothing: the first, if any
};

void add_options(CLI::App& app, sort_options& options);
/// Once the command line is read.
void note_given(const CLI::App& app, sort_options& options);

/// Every parameter as it was resolved, for the record of the run.
parameter_list resolved_parameters(const sort_options& options);

}  // namespace spikeweave::cli
