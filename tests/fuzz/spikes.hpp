#pragma once

#include <filesystem>
#include <string_view>

#include "fuzz/harness.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::fuzz {

/// Reads spikes with the options that a user would try first and, if they are refused, with
/// everything allowed: times before zero, and samples if the file has no unit. The spikes are
/// written in a format that depends on the bytes, and reading them again must give the same.
void read_and_write_again(const temporary_folder& folder, const std::filesystem::path& path,
                          spike_format format, std::string_view bytes);

}  // namespace spikeweave::fuzz
