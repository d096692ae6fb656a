#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "spikeweave/core/options.hpp"

namespace spikeweave::cli {

/// Declares the options of a list on the command line: "--min-count" for `min_count`, and
/// "--no-splits" for a flag `splits` that is on by default. The struct that the
/// list describes must live until the command line is parsed.
void add_described(CLI::App& app, const std::shared_ptr<const option_list>& options);

/// The option of this name on the command line; null if there is none.
CLI::Option* find_described(CLI::App& app, const std::string& name);

}  // namespace spikeweave::cli
