#pragma once

#include <filesystem>
#include <string_view>

#include "fuzz/harness.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::fuzz {

/// Reads spikes as a user would first, and where they are refused once more with all that is
/// allowed: times before zero, in samples where the file does not say. What was read is written in
/// a format that follows from the bytes, and has to come back.
void read_and_write_again(const temporary_folder& folder, const std::filesystem::path& path,
                          spike_format format, std::string_view bytes);

}  // namespace spikeweave::fuzz
