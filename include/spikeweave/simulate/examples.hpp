#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "spikeweave/core/export.hpp"
#include "spikeweave/simulate/network.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/simulate/spikes.hpp"

/// Small simulated recordings with known answers, to try the analyses with.
namespace spikeweave {

struct example_recording {
    std::string_view name;
    std::string_view about;    ///< a phrase: what was recorded for how long
    std::string_view answer;   ///< the findings that an analysis must have
    std::string_view command;  ///< the command that finds it, with {} for the recording
    std::string_view file;     ///< the usual name of its file or folder
    std::string_view model;    ///< the command after `simulate` that makes it
    /// Its options, which give the same spikes and samples on every machine.
    std::variant<sym26_options, culture_options, patterns_options, network_options,
                 recording_options>
        options;
};

SPIKEWEAVE_API std::span<const example_recording> example_recordings();

/// @throws invalid_argument if there is no such example; the message lists all.
SPIKEWEAVE_API const example_recording& find_example(std::string_view name);

}  // namespace spikeweave
