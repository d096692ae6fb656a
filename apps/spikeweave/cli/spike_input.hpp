#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cli/invocation.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/standard_input.hpp"
#include "spikeweave/spikes/units_left_out.hpp"

/// The spikes that a command reads: the file, its epochs, and the recording that confirms.
namespace spikeweave::cli {

/// Whether a path stands for standard input.
inline bool is_standard_input(const std::string& path) {
    return path == "-";
}

/// Whether the name of a file has an extension of raw samples, which have no signature.
bool is_named_as_samples(const std::string& path);

/// @throws invalid_argument if options of reading a recording were given with a file of spikes.
void refuse_recording_options(const recording_read_options& options, const std::string& path);

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
    spike_file read(const spike_read_options& reading, const execution& run) const;
    input_record describe(const execution& run) const;

private:
    std::string path_;
    std::optional<held_standard_input> held_{};
};

struct epoch_source_options {
    std::filesystem::path epochs{};
    std::string around{};  ///< "stimulus:-100ms..400ms"
    std::string labels{};  ///< the column of the labels of epochs; empty: the file decides

    bool given() const { return !epochs.empty() || !around.empty(); }
};

/// The spikes that an analysis begins with.
struct spike_input_options {
    std::string path{};
    spike_read_options reading{};
    epoch_source_options epochs{};
    std::filesystem::path confirm{};  ///< the recording that tests; empty: the one searched
};
/// Lists the options of reading the file.
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
spike_input read_input(const spike_input_options& options, const invocation& call,
                       const execution& run);
/// Also sets the epochs, if the command line has any.
spike_input read_input(const spike_input_options& options, std::vector<time_span>& epochs,
                       const invocation& call, const execution& run);

/// Reads the episodes that a file lists, or those of a result. An error says if their units were
/// left out of the spikes.
std::vector<episode> read_given(const std::filesystem::path& file, const spike_input& input);

/// Adds an option that names events and the part of time around each.
/// @param help  the use of the spans, without the source of the events
option& add_around(option_list& list, std::string name, epoch_source_options& options,
                   std::string_view help);

/// Lets the option `epochs` of a list take a table, and adds `around`.
void describe_epochs(option_list& list, epoch_source_options& options);
/// Adds the column of the labels of the epochs, for a result whose page shows them.
void add_epoch_labels(option_list& list, epoch_source_options& options);

/// Sets the epochs, if the command line gives any.
/// @param input  the spikes, and the events of their file; the record gets warnings, too
/// @throws io_error, invalid_argument, cancelled.
void take_epochs(const epoch_source_options& options, const std::string& path, spike_input& input,
                 std::vector<time_span>& into, const execution& run);

option& add_confirm(option_list& list, std::filesystem::path& file);

/// Reads the recording that confirms as FILE is read, with the same part of time around its events;
/// nothing if there is none. Its warnings are added to those of FILE.
/// @throws io_error, invalid_argument, cancelled.
std::optional<spike_input> read_confirming(spike_input_options input, run_record& of_file,
                                           const invocation& call, const execution& run);

/// Makes the recording that confirms the input of the run, because the result is of its spikes.
/// @return that of FILE
input_record exchange_inputs(run_record& of_file, spike_input& confirming);

}  // namespace spikeweave::cli
