#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/file_error.hpp"
#include "io/name_aside.hpp"

namespace spikeweave::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

void write_all(const std::filesystem::path& path, int descriptor, std::uint64_t offset,
               std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done =
            ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw system_error(path, "cannot be written");
        bytes.remove_prefix(static_cast<std::size_t>(done));
        offset += static_cast<std::uint64_t>(done);
    }
}

}  // namespace

atomic_file::atomic_file(std::filesystem::path target, bool overwrite)
    : target_(std::move(target)), overwrite_(overwrite) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::is_directory(target_, ignored))
        throw file_error(target_, "is a folder, expected the name of a file to write");
    const fs::file_status there = fs::symlink_status(target_, ignored);
    if (fs::exists(there) && !overwrite_) throw file_error(target_, "exists already");
    if (fs::is_other(there))
        throw file_error(target_, "is a device or a pipe, expected the name of a file to write");
    make_folder_of(target_);
    // Done before there is a file, which would remain if this failed.
    buffer_.reserve(buffer_bytes);
    constexpr mode_t readable_by_all = 0666;  // reduced by the umask
    for (int tries = 1; descriptor_ < 0; ++tries) {
        temporary_ = name_aside(target_);
        descriptor_ =
            ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, readable_by_all);
        if (descriptor_ < 0 && (errno != EEXIST || tries == most_tries_aside))
            throw system_error(target_, "cannot be written");
    }
    // A file that replaces one readable only by its owner is readable only by its owner, too.
    struct stat old {};
    constexpr mode_t permissions = 0777;
    if (::lstat(target_.c_str(), &old) == 0 && S_ISREG(old.st_mode))
        static_cast<void>(::fchmod(descriptor_, old.st_mode & permissions));
}

atomic_file::~atomic_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!committed_) ::unlink(temporary_.c_str());
}

void atomic_file::write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > buffer_bytes) flush();
    if (bytes.size() >= buffer_bytes) {
        write_all(target_, descriptor_, flushed_, bytes);
        flushed_ += bytes.size();
    } else {
        buffer_ += bytes;
    }
}

void atomic_file::write_at(std::uint64_t offset, std::string_view bytes) {
    flush();
    write_all(target_, descriptor_, offset, bytes);
}

void atomic_file::flush() {
    write_all(target_, descriptor_, flushed_, buffer_);
    flushed_ += buffer_.size();
    buffer_.clear();
}

void atomic_file::read_at(std::uint64_t offset, std::span<char> into) {
    flush();
    while (!into.empty()) {
        const ssize_t got =
            ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error(target_, "cannot be read back");
        if (got == 0) throw file_error(target_, "became shorter while it was written");
        offset += static_cast<std::uint64_t>(got);
        into = into.subspan(static_cast<std::size_t>(got));
    }
}

void atomic_file::resize(std::uint64_t size) {
    flush();
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0)
        throw system_error(target_, "cannot be written");
}

void atomic_file::finish() {
    flush();
    // File systems that cannot sync report EINVAL.
    if (::fsync(descriptor_) != 0 && errno != EINVAL)
        throw system_error(target_, "cannot be flushed to disk");
    if (::close(std::exchange(descriptor_, -1)) != 0)
        throw system_error(target_, "cannot be written");
}

void atomic_file::commit() {
    if (descriptor_ >= 0) finish();
    give_name(temporary_, target_, overwrite_);
    committed_ = true;
    sync_folder_of(target_);
}

}  // namespace spikeweave::io
