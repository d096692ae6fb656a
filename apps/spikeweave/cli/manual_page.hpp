#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace spikeweave::cli {

/// The page of the manual about a command, or about the program if that is `at`, for man(1). It is
/// made from the descriptions that --help shows.
std::string manual_page(const CLI::App& at);

/// The name of a page without its section: "spikeweave-episodes".
std::string manual_page_name(const CLI::App& at);

}  // namespace spikeweave::cli
