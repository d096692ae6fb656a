#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/random_file.hpp"

namespace spikeweave::io::zip {

/// Bytes of a local file header without the name.
constexpr std::size_t local_size = 30;
/// The value of a 32-bit field whose number is in the ZIP64 part.
constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;

}  // namespace spikeweave::io::zip

namespace spikeweave::io {

struct zip_entry {
    std::string name;
    std::uint16_t method = 0;  // 0: stored, 8: deflate
    std::uint32_t crc = 0;
    std::uint64_t packed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t header_at = 0;
};

/// The entries of a zip archive (also zip64) according to its central directory.
class zip_reader {
public:
    /// @throws io_error if it is not a zip archive or its directory is damaged.
    explicit zip_reader(const std::filesystem::path& path)
        : zip_reader(std::make_shared<const random_file>(path)) {}
    explicit zip_reader(std::shared_ptr<const random_file> file);

    const std::vector<zip_entry>& entries() const { return entries_; }
    /// Returns nullptr if there is no entry of that name.
    const zip_entry* find(std::string_view name) const;
    /// Returns the unpacked bytes. The last of them are returned only if the checksum of all is
    /// correct.
    /// @throws io_error if the entry is damaged, encrypted or compressed with another method.
    byte_source open(const zip_entry& entry) const;

private:
    std::shared_ptr<const random_file> file_;
    std::vector<zip_entry> entries_;
};

/// Writes a zip archive of stored entries, always as zip64, so that all sizes are handled alike.
/// The same entries give the same bytes.
class zip_writer {
public:
    /// @param overwrite  as of `atomic_file`
    explicit zip_writer(const std::filesystem::path& target, bool overwrite = true)
        : file_(std::in_place, target, overwrite) {}
    /// Writes into a text that is empty, which has to live as long.
    explicit zip_writer(std::string* into) : into_(into) {}

    /// Starts an entry; `write` fills it until the next `begin` or `commit`.
    void begin(std::string_view name);
    void write(std::string_view bytes);
    /// Writes the directory and brings the file to disk, still under its temporary name.
    /// @throws io_error
    void finish();
    /// Finishes the file and renames it to its target. @throws io_error
    void commit();

private:
    void end_entry();
    std::uint64_t size() const { return file_ ? file_->size() : into_->size(); }
    void append_bytes(std::string_view bytes);
    void replace_bytes(std::uint64_t at, std::string_view bytes);

    std::optional<atomic_file> file_{};
    std::string* into_ = nullptr;  // without a file
    std::vector<zip_entry> entries_;
    bool open_ = false;
    bool finished_ = false;
};

}  // namespace spikeweave::io
