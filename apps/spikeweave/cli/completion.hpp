#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "spikeweave/core/enum_names.hpp"

namespace spikeweave {
namespace cli {

/// The shells that can complete the words of a command.
enum class shell : std::uint8_t { bash, zsh, fish };

/// A script that makes a shell complete the commands and options of this program.
/// @param root  the program, with all its commands
std::string completion_script(const CLI::App& root, shell which);

}  // namespace cli
template <>
enum_table<cli::shell> enum_names<cli::shell>();
}  // namespace spikeweave
