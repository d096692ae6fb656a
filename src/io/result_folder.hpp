#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spikeweave::io {

/// A result folder, written under a temporary name and renamed, so it is complete or absent. What
/// it replaces is kept until then.
class result_folder {
public:
    /// @param our_files  all names that such a result can have, as "folder/name" in a folder of it:
    /// one that holds any other file is never replaced
    /// @throws io_error
    result_folder(const std::filesystem::path& target, bool overwrite,
                  std::span<const std::string_view> our_files);
    ~result_folder();
    result_folder(const result_folder&) = delete;
    result_folder& operator=(const result_folder&) = delete;
    result_folder(result_folder&&) = delete;
    result_folder& operator=(result_folder&&) = delete;

    /// Where its files are written until `commit`.
    std::filesystem::path file(std::string_view name) const { return aside_ / name; }
    void write(std::string_view name, std::string_view text) const;
    /// Gives the folder its name. What it replaces is looked at once more: somebody else's files
    /// may have come into it. @throws io_error, cancelled; then all is as it was before.
    void commit(const std::stop_token& stop);

private:
    std::filesystem::path target_;
    std::filesystem::path aside_;
    std::vector<std::string> our_files_;
    bool replaces_;
    bool committed_ = false;
};

}  // namespace spikeweave::io
