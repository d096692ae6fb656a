#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace spikeweave::io {

/// A sequential source of bytes: a file or an entry of an archive. It fills the whole span unless
/// the bytes end before, and returns their number.
using byte_source = std::function<std::size_t(std::span<char>)>;

/// A file that is read at arbitrary offsets.
class random_file {
public:
    /// @throws io_error if it cannot be opened or is a folder.
    explicit random_file(std::filesystem::path path);
    /// The bytes are in memory.
    /// @param path  of the file that contains them, for messages
    random_file(std::filesystem::path path, std::string bytes);
    ~random_file();
    random_file(const random_file&) = delete;
    random_file& operator=(const random_file&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::uint64_t size() const { return size_; }
    /// @throws io_error if the file is shorter.
    void read_at(std::uint64_t offset, std::span<char> into) const;

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
    std::string bytes_{};  // without a descriptor
    std::uint64_t size_ = 0;
};

/// Returns the bytes of a whole file.
byte_source open_bytes(const std::filesystem::path& path);

}  // namespace spikeweave::io
