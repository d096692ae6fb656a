#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace spikeweave::io {

/// A file that is written under a temporary name in the folder of its target and renamed when it is
/// complete. Otherwise it is removed. The folder is made if it is missing.
class atomic_file {
public:
    /// @param overwrite  false: nothing may be at the target, now and when the file is complete
    /// @throws io_error if the target is taken, or no file, or its folder is not writable.
    explicit atomic_file(std::filesystem::path target, bool overwrite = true);
    ~atomic_file();
    atomic_file(const atomic_file&) = delete;
    atomic_file& operator=(const atomic_file&) = delete;

    /// @throws io_error if the disk is full or fails.
    void write(std::string_view bytes);
    /// Bytes written so far.
    std::uint64_t size() const { return flushed_ + buffer_.size(); }
    /// Writes at any offset, bypassing the buffer.
    void write_at(std::uint64_t offset, std::string_view bytes);
    /// Reads what was written. @throws io_error if the file is shorter.
    void read_at(std::uint64_t offset, std::span<char> into);
    /// Truncates the file or extends it with zeros.
    void resize(std::uint64_t size);
    /// Brings the file to disk, still under its temporary name, so that `commit` needs no space.
    /// @throws io_error
    void finish();
    /// Finishes the file and renames it, replacing a file of that name if it may.
    /// @throws io_error; then the file is absent.
    void commit();

private:
    void flush();

    std::filesystem::path target_;
    std::filesystem::path temporary_;
    int descriptor_ = -1;
    bool overwrite_;
    bool committed_ = false;
    std::uint64_t flushed_ = 0;
    std::string buffer_;
};

}  // namespace spikeweave::io
