#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

struct gzFile_s;

namespace spikeweave::io {

/// The bytes of a file from its beginning, decompressed if it is gzip.
class input_stream {
public:
    /// @throws io_error if the file cannot be opened or is a folder.
    explicit input_stream(std::filesystem::path path);

    /// Fills the whole span unless the file ends before; returns the number of bytes.
    /// @throws io_error if the file cannot be read or its gzip data are damaged or truncated.
    std::size_t read(std::span<char> into);

    const std::filesystem::path& path() const { return path_; }
    /// The number of (compressed) bytes of the file read so far, and in all; the size is 0 for a
    /// pipe.
    std::uint64_t position() const;
    std::uint64_t size() const { return size_; }

private:
    struct close {
        void operator()(gzFile_s* file) const noexcept;
    };

    std::filesystem::path path_;
    std::uint64_t size_ = 0;
    std::unique_ptr<gzFile_s, close> file_;
};

}  // namespace spikeweave::io
