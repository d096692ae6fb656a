#pragma once

#include <CLI/CLI.hpp>

#include "spikeweave/record/recording.hpp"

namespace spikeweave::cli {

/// The options of every verb that reads recordings.
void add_recording_reading(CLI::App& app, recording_read_options& how,
                           const std::string& sample_rate_help =
                               "of raw samples (int16, channels fastest): how many a second");

/// Whether the file is to be read as a recording: it carries a mark of one, or what only raw
/// samples need was given.
bool is_recording(const std::string& path, const recording_read_options& how, const execution& run);

/// What `spikeweave info` says of a recording.
std::string describe_text(const recording& what);
std::string describe_json(const recording& what);

}  // namespace spikeweave::cli
