#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spikeweave::cli {

std::vector<std::string> names_of_commands(const CLI::App& app);

/// The name that was most likely meant: at most a third of its letters differ, where two letters
/// that changed places count once. Empty if no name is near.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& known);

/// A message about the first unknown command or option of a command line, with the one that may be
/// meant; empty if all are known.
/// @param words  the words typed after the name of the program
std::optional<std::string> explain_unknown(const CLI::App& app, std::span<const std::string> words);

}  // namespace spikeweave::cli
