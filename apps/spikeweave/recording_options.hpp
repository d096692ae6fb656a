#pragma once

#include <string>

#include "spikeweave/record/recording.hpp"

namespace spikeweave::cli {

/// Whether the file is to be read as a recording: it carries a mark of one, or what only raw
/// samples need was given.
bool is_recording(const std::string& path, const recording_read_options& how, const execution& run);

/// What `spikeweave info` says of a recording.
std::string describe_text(const recording& what);
std::string describe_json(const recording& what);

}  // namespace spikeweave::cli
