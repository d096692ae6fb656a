#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/file_error.hpp"

namespace synfire::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

std::filesystem::path name_aside(const std::filesystem::path& target) {
    static std::atomic<unsigned> count{0};
    return target.parent_path() /
           fmt::format(".{}.{}.{}.part", target.filename().string(), ::getpid(), ++count);
}

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

atomic_path::atomic_path(std::filesystem::path target)
    : target_(std::move(target)), temporary_(name_aside(target_)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(target_, ignored))
        throw file_error(target_, "is a folder, expected the name of a file to write");
}

atomic_path::~atomic_path() {
    if (!committed_) ::unlink(temporary_.c_str());
}

void atomic_path::commit() {
    const int descriptor = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw system_error(target_, "cannot be written");
    const bool on_disk = ::fsync(descriptor) == 0 || errno == EINVAL;
    const io_error error = system_error(target_, "cannot be brought to disk");
    ::close(descriptor);
    if (!on_disk) throw error;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0)
        throw system_error(target_, "cannot be given its name");
    committed_ = true;
}

atomic_file::atomic_file(const std::filesystem::path& target) : path_(target) {
    constexpr mode_t readable_by_all = 0666;  // less the umask
    descriptor_ =
        ::open(path_.temporary().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable_by_all);
    if (descriptor_ < 0) throw system_error(target, "cannot be written");
    buffer_.reserve(buffer_bytes);
}

atomic_file::~atomic_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void atomic_file::write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > buffer_bytes) flush();
    if (bytes.size() >= buffer_bytes) {
        write_all(path_.target(), descriptor_, flushed_, bytes);
        flushed_ += bytes.size();
    } else {
        buffer_ += bytes;
    }
}

void atomic_file::write_at(std::uint64_t offset, std::string_view bytes) {
    flush();
    write_all(path_.target(), descriptor_, offset, bytes);
}

void atomic_file::flush() {
    write_all(path_.target(), descriptor_, flushed_, buffer_);
    flushed_ += buffer_.size();
    buffer_.clear();
}

void atomic_file::commit() {
    flush();
    if (::close(std::exchange(descriptor_, -1)) != 0)
        throw system_error(path_.target(), "cannot be written");
    path_.commit();
}

}  // namespace synfire::io
