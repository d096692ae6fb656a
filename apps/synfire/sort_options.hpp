#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "synfire/synfire.hpp"

namespace synfire::cli {

struct sort_options {
    std::string path{};
    feature_reading how{};
    /// In Hz; 0: what the file says.
    double sample_rate = 0;
    /// A `.clu.N` to begin with; empty: by masks.
    std::string start{};
    /// Empty: the terminal's result is all.
    std::string to{};
    bool overwrite = false;
    bool json = false;
    bool klustakwik2_labels = false;
    masked_gmm_options search{};
    int threads = 0;
};

void add_options(CLI::App& app, sort_options& options);

/// Every parameter as it was resolved, for the record of the run.
std::vector<std::pair<std::string, std::string>> resolved_parameters(const sort_options& options);

}  // namespace synfire::cli
