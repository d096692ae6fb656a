#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/core/options.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::cli {

/// The options of the analysis, and those of the command itself.
struct spade_command {
    std::string path{};
    spike_read_options how{};
    bool transactions = false;  ///< FILE holds windows, not spikes
    std::string epochs_path{};  ///< a table of epochs; empty: the whole recording
    std::vector<std::string> only_units{};
    std::string to{};  ///< empty: the result is shown on the terminal only
    bool overwrite = false;
    bool json = false;
    bool occurrences = false;
    bool nwb = false;
    std::uint64_t max_memory_bytes = 0;
    spade_options analysis{};
};

void declare_spade(CLI::App& app, spade_command& options);

/// Adds the parameters of the command that are not the analysis's.
void add_parameters(const spade_command& options, parameter_list& list);

}  // namespace spikeweave::cli
