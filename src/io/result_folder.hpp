#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spikeweave::io {

/// Refuses to replace a folder that holds anything but these files.
/// @param our_files  see `result_folder`
/// @throws io_error
void check_replaceable(const std::filesystem::path& folder,
                       std::span<const std::string_view> our_files);

/// A result folder, written under a temporary name and renamed, so that it is complete or absent.
/// The folder that it replaces is kept until then.
class result_folder {
public:
    /// @param our_files  all names that such a result can have, with "folder/name" for a file in a
    /// subfolder. A folder that holds any other file is never replaced
    /// The folder above it is made if it is missing.
    /// @throws io_error
    result_folder(const std::filesystem::path& target, bool overwrite,
                  std::span<const std::string_view> our_files);
    ~result_folder();
    result_folder(const result_folder&) = delete;
    result_folder& operator=(const result_folder&) = delete;

    /// The path of a file until `commit`.
    std::filesystem::path file(std::string_view name) const { return aside_ / name; }
    void write(std::string_view name, std::string_view text) const;
    /// Renames the folder to its target. The folder that it replaces is checked again, because
    /// other files may have been added. @throws io_error, cancelled; then everything is as before.
    void commit(const std::stop_token& stop);

private:
    std::filesystem::path target_;
    std::filesystem::path aside_;
    std::vector<std::string> our_files_;
    bool replaces_;
    bool committed_ = false;
};

}  // namespace spikeweave::io
