#pragma once

#include <filesystem>
#include <optional>

#include "cli/epoch_source.hpp"
#include "cli/invocation.hpp"
#include "cli/spike_input.hpp"
#include "spikeweave/core/options.hpp"

/// The recording in which what is found in FILE is tested.
namespace spikeweave::cli {

option& add_confirm(option_list& list, std::filesystem::path& file);

/// Reads this recording as `input` says that FILE is read, and takes the same part of time around
/// its events; nothing if there is none. Its warnings are added to those of FILE.
/// @throws io_error, invalid_argument, cancelled.
std::optional<spike_input> read_confirming(const std::filesystem::path& file,
                                           spike_input_options input,
                                           const epoch_source_options& epochs, run_record& of_file,
                                           const invocation& now, const execution& run);

/// Makes the recording that confirms the input of the run, because the result is of its spikes.
/// @return that of FILE
input_record exchange_inputs(run_record& of_file, spike_input& confirming);

}  // namespace spikeweave::cli
