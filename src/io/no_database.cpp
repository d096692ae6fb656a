// Replaces database.cpp in a build without SQLite.

#include "io/database.hpp"
#include "io/file_error.hpp"

namespace spikeweave::io {

std::unique_ptr<database> open_database(const std::filesystem::path& path, database::access) {
    throw file_error(path,
                     "this build of spikeweave has no sessions (it was configured with "
                     "SPIKEWEAVE_LIVE=OFF)");
}

}  // namespace spikeweave::io
