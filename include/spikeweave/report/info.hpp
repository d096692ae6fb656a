#pragma once

#include <string>

#include "spikeweave/core/export.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/spikes/files.hpp"

/// The contents of a file of spikes or a recording, as `spikeweave info` shows them.
namespace spikeweave {

/// Summarises spikes as text for a terminal: numbers, span, rates, omissions, and warnings.
/// @param name  the name of the file in the text
SPIKEWEAVE_API std::string summarize(const spike_file& file, const std::string& name);
/// The same as one JSON document, with every unit.
SPIKEWEAVE_API std::string to_json(const spike_file& file, const std::string& name);

/// Lists the parts that a copy of the spikes lacks, a line for each kind; empty if it lacks
/// nothing.
SPIKEWEAVE_API std::string summarize_dropped(const spike_file& file);

/// Summarises a recording as text for a terminal: its channels, length, gain, probe and warnings.
SPIKEWEAVE_API std::string summarize(const recording& what,
                                     std::span<const std::string> faults = {});
/// The same as one JSON document, with every channel.
SPIKEWEAVE_API std::string to_json(const recording& what, std::span<const std::string> faults = {});

}  // namespace spikeweave
