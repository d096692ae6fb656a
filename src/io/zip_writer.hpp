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
/// The same entries yield the same bytes.
class zip_writer {
public:
    /// @param overwrite  as of `atomic_file`
    explicit zip_writer(const std::filesystem::path& target, bool overwrite = true)
        : file_(target, overwrite) {}

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

    atomic_file file_;
    std::vector<zip_entry> entries_;
    bool open_ = false;
    bool finished_ = false;
};

}  // namespace spikeweave::io
