#include "live/sources/byte_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

[[noreturn]] void fail_to_read(const std::string& name, int code) {
    throw io_error(fmt::format("cannot read {}: {}", name, std::generic_category().message(code)));
}

int opened(const std::filesystem::path& path, const char* expected, const std::string& name) {
    if (path != "-") {
        // Opening a named pipe does not wait for its writer, so that it can be stopped.
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) fail_to_read(name, errno);
        return descriptor;
    }
    if (::isatty(STDIN_FILENO) != 0)
        throw io_error(fmt::format(
            "standard input is a terminal, expected {} from a file or a pipe", expected));
    return STDIN_FILENO;
}

bool is_regular_file(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

}  // namespace

byte_input::byte_input(const std::filesystem::path& path, const char* expected,
                       std::stop_token stop)
    : shown_name_(path == "-" ? "standard input" : path.string()),
      descriptor_(opened(path, expected, shown_name_)),
      is_file_(is_regular_file(descriptor_)),
      stop_(std::move(stop)) {}

byte_input::~byte_input() {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

byte_input::awaited byte_input::wait() {
    constexpr int between_looks_ms = arrival_bound::between_looks.count();
    const auto end = std::chrono::steady_clock::now() + longest_silence;
    while (!stop_.stop_requested()) {
        pollfd input{.fd = descriptor_, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&input, 1, between_looks_ms);
        if (ready > 0) return awaited::bytes;
        if (ready == 0) arrived_.looked(true);
        if (ready < 0 && errno != EINTR) fail_to_read(shown_name_, errno);
        if (std::chrono::steady_clock::now() >= end) return awaited::silence;
    }
    return awaited::end;
}

byte_input::awaited byte_input::read(std::span<char> into, std::size_t& got) {
    for (;;) {
        if (const awaited came = wait(); came != awaited::bytes) return came;
        arrived_.begin_read();
        const ssize_t count = ::read(descriptor_, into.data(), into.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count < 0) fail_to_read(shown_name_, errno);
        got = static_cast<std::size_t>(count);
        arrived_.looked(is_file_ || got < into.size());
        return awaited::bytes;
    }
}

}  // namespace spikeweave::live
