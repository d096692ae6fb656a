#pragma once

#include <filesystem>

namespace spikeweave::io {

/// A hidden name beside `target` that nobody has taken or can foresee, for what becomes it later.
/// Process ids would not do: in every container they begin at 1.
std::filesystem::path name_aside(const std::filesystem::path& target);

/// How often a taken name is tried again: once would be a coincidence.
constexpr int most_tries_aside = 8;

/// Brings the names in the folder of `path` to disk, where the file system can.
void sync_folder_of(const std::filesystem::path& path);

}  // namespace spikeweave::io
