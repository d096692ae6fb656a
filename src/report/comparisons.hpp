#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace spikeweave::report {

/// What a page calls the folders of results: by their names, or by their paths if two have the same
/// name.
std::vector<std::string> names_of_folders(std::span<const std::filesystem::path> folders);

}  // namespace spikeweave::report
