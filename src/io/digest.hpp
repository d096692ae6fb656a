#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

namespace spikeweave::io {

/// XXH3 with 128 bits (xxhash.com) distinguishes files at the speed of the disk. It is not a
/// cryptographic hash.
inline constexpr std::string_view digest_algorithm = "xxh3-128";

struct digest {
    std::uint64_t bytes = 0;
    std::string hex{};  ///< canonical byte order, as `xxhsum -H128` prints it
};

/// Reads the file once. For a folder, it reads the `.npy`, `.py`, `.tsv` and `.csv` files in the
/// order of their names, each preceded by its name; of a folder without such files, those of the
/// folders below it. @throws io_error, cancelled.
digest digest_of(const std::filesystem::path& path, const std::stop_token& stop = {});

/// The digest of these bytes alone.
std::string digest_of_bytes(std::string_view bytes);

}  // namespace spikeweave::io
