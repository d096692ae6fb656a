#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.hpp"
#include "io/random_file.hpp"

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
    explicit zip_reader(const std::filesystem::path& path);

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

}  // namespace spikeweave::io
