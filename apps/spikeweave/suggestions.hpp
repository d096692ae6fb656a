#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spikeweave::cli {

/// The one of `known` that `typed` is most likely meant for: at most a third of its letters
/// differ, two that changed places counting once. Nothing when none is near.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& known);

/// Which verb or option of a command line there is not, in words for the user, and which one may
/// be meant; nothing when all are known.
/// @param words  without the name of the program
std::optional<std::string> explain_unknown(const CLI::App& app, std::span<const std::string> words);

}  // namespace spikeweave::cli
