#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spikeweave::cli {

/// Breaks text at blanks into lines of at most `width` characters; lines after the first begin with
/// `indent` blanks. A longer word gets a line of its own.
/// @param used  number of characters that the first line already has
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0,
                    std::size_t used = 0);

/// A command as it is typed: "spikeweave simulate culture".
std::string typed_as(const CLI::App& at);

/// The headings under which a command's options are listed, in this order: "Options" comes last,
/// because --help and the options that all commands have are there.
std::vector<std::string> groups_of(const CLI::App& app);

/// The help of an option, with the options that it needs and excludes.
std::string described(const CLI::Option& option);

/// Formats help in lines of the terminal's width, or of 80 characters. The whole help
/// (`CLI::AppFormatMode::All`) lists options by group, with what they need and exclude after their
/// description. The short help lists those that `list_in_short_help` named, or all of a command
/// that has few, each with the first clause of its description.
std::shared_ptr<CLI::Formatter> help_formatter();

/// Makes the short help of `app` list one of its options or commands.
void list_in_short_help(const CLI::App& app, const void* option_or_command);

}  // namespace spikeweave::cli
