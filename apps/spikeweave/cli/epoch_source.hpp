#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/spike_input.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"

/// Epochs as the command line gives them: a table, or a part of time around events in the file.
namespace spikeweave::cli {

struct epoch_source_options {
    std::filesystem::path epochs{};
    std::string around{};  ///< "stimulus:-100ms..400ms"

    bool given() const { return !epochs.empty() || !around.empty(); }
};

/// Adds an option that names events and the part of time around each.
/// @param help  what the parts are, without where they come from
option& add_around(option_list& list, std::string name, epoch_source_options& options,
                   std::string_view help);

/// Lets the option `epochs` of a list take a table, and adds `around`.
void describe_epochs(option_list& list, epoch_source_options& options);

/// Sets the epochs, if the command line gives any.
/// @param input  the spikes, and the events of their file; the record gets warnings, too
/// @throws io_error, invalid_argument, cancelled.
void take_epochs(const epoch_source_options& options, const std::string& path, spike_input& input,
                 std::vector<time_span>& into, const execution& run);

}  // namespace spikeweave::cli
