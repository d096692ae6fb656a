#pragma once

#include <filesystem>

namespace spikeweave::io {

/// Returns a hidden, unused and unpredictable name beside `target`, for a temporary file or folder.
/// Process ids would not do, because they begin at 1 in every container.
std::filesystem::path name_aside(const std::filesystem::path& target);

/// Number of attempts if a name is taken; even one collision is unlikely.
constexpr int most_tries_aside = 8;

/// Makes the folder of `path`, with those above it, if they are missing.
/// @throws io_error
void make_folder_of(const std::filesystem::path& path);

/// Gives what was written under a name aside the name `target`.
/// @param replaces  false: a file that has appeared there meanwhile is somebody else's, and is kept
/// @throws io_error
void give_name(const std::filesystem::path& aside, const std::filesystem::path& target,
               bool replaces);

/// Syncs the folder that contains `path`, if the file system supports it and there is memory: what
/// was written has its name already, so nothing here is a failure.
void sync_folder_of(const std::filesystem::path& path);

}  // namespace spikeweave::io
