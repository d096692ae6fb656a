#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/zip_reader.hpp"

namespace spikeweave::io {

/// Writes a zip archive of stored entries, always as zip64, so that all sizes are handled alike.
/// The same entries give the same bytes.
class zip_writer {
public:
    explicit zip_writer(const std::filesystem::path& target) : file_(target) {}

    /// Starts an entry; `write` fills it until the next `begin` or `commit`.
    void begin(std::string_view name);
    void write(std::string_view bytes);
    /// Writes the directory and renames the file to its target. @throws io_error
    void commit();

private:
    void end_entry();

    atomic_file file_;
    std::vector<zip_entry> entries_;
    bool open_ = false;
};

}  // namespace spikeweave::io
