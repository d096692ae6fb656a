#include "io/name_aside.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <new>
#include <random>
#include <system_error>

#include "io/file_error.hpp"

namespace spikeweave::io {
namespace {

// @return whether the system knows how to rename only to a name that is free
bool is_named_in_one_step(const std::filesystem::path& aside, const std::filesystem::path& target) {
    if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST)
        throw file_error(target,
                         "was written by another run while this one was at work, and is not "
                         "replaced");
    if (errno != EINVAL && errno != ENOSYS) throw system_error(target, "cannot be written");
    return false;
}

}  // namespace

std::filesystem::path name_aside(const std::filesystem::path& target) {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32U) | random();
    return target.parent_path() /
           fmt::format(".{}.{:013x}.part", target.filename().string(), number >> 12U);
}

void make_folder_of(const std::filesystem::path& path) {
    if (!path.has_parent_path()) return;
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    if (failed)
        throw file_error(path, fmt::format("cannot be written: the folder {} cannot be made: {}",
                                           path.parent_path().string(), failed.message()));
}

void give_name(const std::filesystem::path& aside, const std::filesystem::path& target,
               bool replaces) {
    if (!replaces && is_named_in_one_step(aside, target)) return;
    if (::rename(aside.c_str(), target.c_str()) != 0)
        throw system_error(target, "cannot be given its name");
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
