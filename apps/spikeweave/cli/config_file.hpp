#pragma once

#include <CLI/CLI.hpp>
#include <stop_token>
#include <string>

namespace spikeweave::cli {

/// Declares --config, a TOML file with a table for each command: `min-count = 100` under
/// `[episodes]` stands for `episodes --min-count 100`. What is typed has precedence.
///
/// A file that is not TOML, a command or option that there is not, or a value that the option does
/// not take ends parsing with an error about a file.
/// @param stop  ends the wait for a pipe
void add_config_file(CLI::App& program, const std::stop_token& stop);

/// The fault of the file of --config: its name, the line and why, or that it cannot be read.
std::string explain_config(const CLI::App& program, const CLI::FileError& error);

}  // namespace spikeweave::cli
