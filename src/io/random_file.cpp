#include "io/random_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "io/file_error.hpp"
#include "io/readable_file.hpp"

namespace spikeweave::io {

random_file::random_file(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored))
        throw file_error(path_, "is a folder, expected a file");
    refuse_pipe(path_);
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw system_error(path_, "cannot be opened");
    const off_t end = ::lseek(descriptor_, 0, SEEK_END);
    if (end < 0) {
        const io_error error = system_error(path_, "cannot be read at any place");
        ::close(descriptor_);
        throw error;
    }
    size_ = static_cast<std::uint64_t>(end);
}

random_file::random_file(std::filesystem::path path, std::string bytes)
    : path_(std::move(path)), bytes_(std::move(bytes)), size_(bytes_.size()) {}

random_file::~random_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void random_file::read_at(std::uint64_t offset, std::span<char> into) const {
    if (offset > size_ || into.size() > size_ - offset)
        throw file_error(path_, fmt::format("ends at byte {}, expected {} bytes from byte {}",
                                            size_, into.size(), offset));
    if (descriptor_ < 0) {
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), into.size(),
                    into.begin());
        return;
    }
    while (!into.empty()) {
        const ssize_t got =
            ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error(path_, "cannot be read");
        if (got == 0) throw file_error(path_, "became shorter while it was read");
        offset += static_cast<std::uint64_t>(got);
        into = into.subspan(static_cast<std::size_t>(got));
    }
}

byte_source open_bytes(const std::filesystem::path& path) {
    return [file = std::make_shared<const random_file>(path),
            at = std::uint64_t{0}](std::span<char> into) mutable {
        const auto n =
            static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), file->size() - at));
        file->read_at(at, into.first(n));
        at += n;
        return n;
    };
}

}  // namespace spikeweave::io
