#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/invocation.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/standard_input.hpp"
#include "spikeweave/spikes/units_left_out.hpp"

namespace spikeweave::cli {

/// Whether a path stands for standard input.
inline bool is_standard_input(const std::string& path) {
    return path == "-";
}

/// Declares FILE, which the commands read that need spikes.
void add_spike_file(CLI::App& app, std::string& path,
                    const std::string& what = "file or folder of spikes");

/// A file or folder of spikes. "-" is standard input, whose content is held in memory, because its
/// format is detected before it is read.
class spike_source {
public:
    /// Waits until standard input ends.
    /// @throws io_error if it is a terminal or cannot be read; cancelled.
    spike_source(const std::string& path, const std::stop_token& stop);

    /// These are `read_spikes` and `describe_input`, except that messages name standard input.
    spike_file read(const spike_read_options& how, const execution& run) const;
    input_record describe(const execution& run) const;

private:
    std::string path_;
    std::optional<held_standard_input> held_{};
};

/// The spikes that an analysis begins with.
struct spike_input_options {
    std::string path{};
    spike_read_options how{};
};
option_list describe(spike_input_options& options);

struct spike_input {
    spike_sequence spikes{};
    bool has_recorded_span = false;
    std::vector<std::int64_t> stimulus_us{};  ///< stimulus markers, in order
    reasons_left_out left_out{};              ///< units that the options left out
    /// The file and the options that it was read with, what was left out, and the reader's
    /// warnings.
    run_record record{};
};

/// Reads the spikes. The warnings are not shown yet.
/// @throws io_error, invalid_argument, cancelled.
spike_input read_input(const spike_input_options& options, const invocation& now,
                       const execution& run);

/// Reads the episodes that a file lists, or those of a result. An error says if their units were
/// left out of the spikes.
std::vector<episode> read_given(const std::filesystem::path& file, const spike_input& input);

}  // namespace spikeweave::cli
