#pragma once

#include <CLI/CLI.hpp>

namespace spikeweave::cli {

/// Declares --config, a TOML file with a table for each command: `min-count = 100` under
/// `[episodes]` stands for `episodes --min-count 100`. What is typed has precedence.
///
/// A file that is not TOML, a command or option that there is not, or a value that the option does
/// not take ends parsing with invalid_argument, which names the file and the line.
void add_config_file(CLI::App& program);

}  // namespace spikeweave::cli
