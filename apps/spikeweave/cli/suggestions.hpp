#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spikeweave::cli {

std::vector<std::string> names_of_commands(const CLI::App& app);

/// The long names of a command's options, without those that help does not list because they are
/// elsewhere now.
std::vector<std::string> names_of_options(const CLI::App& app);

/// A message about the first unknown command or option of a command line, with the one that may be
/// meant; empty if all are known.
/// @param words  the words typed after the name of the program
std::optional<std::string> explain_unknown(const CLI::App& app, std::span<const std::string> words);

}  // namespace spikeweave::cli
