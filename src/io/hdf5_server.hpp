#pragma once

// The requests of `hdf5::reader` to the process that has the file open. libhdf5 1.10 crashes and
// loops on damaged files, so only this process reads with it (docs/design/0010).

#include <cstdint>
#include <filesystem>

#include "io/helper_process.hpp"

namespace spikeweave::io::hdf5 {

/// A request is one of these followed by its arguments: an object's path, then those listed here.
enum class request_kind : std::uint64_t {
    open,               ///< opens the file or reports why it cannot
    exists,             ///< → 1 or 0
    leads_somewhere,    ///< → 1; 0 for a link to a missing object
    members,            ///< → count, names
    file_of,            ///< → the file that contains the object, which may be behind a link
    text_attribute,     ///< name → count (0: no text attribute), texts
    number_attributes,  ///< name → finding, and then count, the bits of doubles
    describe,           ///< → rank, lengths, item_kind, bytes of an item
    texts,              ///< most items → count, texts
    rows,  ///< first row, rows, number_kind; the numbers are put into the shared memory
};

enum class finding : std::uint64_t { absent, no_numbers, numbers };
enum class item_kind : std::uint64_t { signed_integer, unsigned_integer, real, text, other };
enum class number_kind : std::uint64_t { int16, int64, uint64, float32, float64 };
constexpr std::size_t bytes_of_number(number_kind kind) {
    return kind == number_kind::int16 ? 2 : kind == number_kind::float32 ? 4 : 8;
}

/// Returns the function that answers requests about the file. The file is opened by the first one.
helper_process::answering serve_file(const std::filesystem::path& path);

}  // namespace spikeweave::io::hdf5
