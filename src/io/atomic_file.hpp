#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace synfire::io {

/// A name in the folder of a file to come, under which the file is written until it is whole. What
/// was not committed is removed.
class atomic_path {
public:
    explicit atomic_path(std::filesystem::path target);
    ~atomic_path();
    atomic_path(const atomic_path&) = delete;
    atomic_path& operator=(const atomic_path&) = delete;
    atomic_path(atomic_path&&) = delete;
    atomic_path& operator=(atomic_path&&) = delete;

    const std::filesystem::path& target() const { return target_; }
    const std::filesystem::path& temporary() const { return temporary_; }
    /// Brings the written file to disk and gives it its name, in place of what had it before.
    /// @throws io_error
    void commit();

private:
    std::filesystem::path target_;
    std::filesystem::path temporary_;
    bool committed_ = false;
};

/// A file written from the beginning to the end through a buffer, whole or absent afterwards.
class atomic_file {
public:
    /// @throws io_error when the folder cannot be written to.
    explicit atomic_file(const std::filesystem::path& target);
    ~atomic_file();
    atomic_file(const atomic_file&) = delete;
    atomic_file& operator=(const atomic_file&) = delete;
    atomic_file(atomic_file&&) = delete;
    atomic_file& operator=(atomic_file&&) = delete;

    /// @throws io_error when the disk is full or fails.
    void write(std::string_view bytes);
    /// Bytes written so far.
    std::uint64_t size() const { return flushed_ + buffer_.size(); }
    /// Replaces bytes that were written before.
    void write_at(std::uint64_t offset, std::string_view bytes);
    /// @throws io_error; then the file is absent.
    void commit();

private:
    void flush();

    atomic_path path_;
    int descriptor_ = -1;
    std::uint64_t flushed_ = 0;
    std::string buffer_;
};

}  // namespace synfire::io
