#include "io/name_aside.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <random>

namespace spikeweave::io {

std::filesystem::path name_aside(const std::filesystem::path& target) {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32U) | random();
    return target.parent_path() /
           fmt::format(".{}.{:013x}.part", target.filename().string(), number >> 12U);
}

void sync_folder_of(const std::filesystem::path& path) {
    std::filesystem::path folder = ".";
    try {
        if (path.has_parent_path()) folder = path.parent_path();
    } catch (const std::bad_alloc&) {
        return;
    }
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    static_cast<void>(::fsync(descriptor));
    ::close(descriptor);
}

}  // namespace spikeweave::io
