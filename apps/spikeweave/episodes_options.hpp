#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/spikeweave.hpp"

namespace spikeweave::cli {

struct episodes_options {
    std::string path{};
    spike_read_options how{};
    /// Empty: the terminal's result is all.
    std::string to{};
    bool overwrite = false;
    bool json = false;
    bool occurrences = false;
    /// `mining.delays` stays empty until the defaults are filled in.
    episode_mining_options mining{};
    significance_options significance{};
    surrogate_options surrogates{};
    /// Empty: mine.
    std::string count_only{};
    std::vector<std::string> only_units{};
    int threads = 0;
    /// Where episodes are counted; none: on the CPU.
    std::optional<std::vector<int>> devices{std::in_place};  ///< nullopt: automatic
};

void add_options(CLI::App& app, episodes_options& options);

/// Every parameter as it was resolved, for the record of the run.
parameter_list resolved_parameters(const episodes_options& options, const episode_table& table);

}  // namespace spikeweave::cli
