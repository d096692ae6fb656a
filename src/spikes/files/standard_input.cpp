#include "spikeweave/spikes/standard_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

[[noreturn]] void fail_to_read(const std::string& name, int code) {
    throw io_error(
        fmt::format("{} cannot be read: {}", name, std::generic_category().message(code)));
}

// What is read, and its name in messages.
struct held_input {
    int descriptor;
    std::string name;
};

void wait_for_input(const held_input& from, const std::stop_token& stop) {
    constexpr int between_looks_ms = 100;
    pollfd input{.fd = from.descriptor, .events = POLLIN, .revents = 0};
    for (;;) {
        if (stop.stop_requested()) throw cancelled();
        const int ready = ::poll(&input, 1, between_looks_ms);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) fail_to_read(from.name, errno);
    }
}

void hold_bytes(const held_input& from, int to, std::span<const char> bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(to, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) fail_to_read(from.name, errno);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
}

// Returns a descriptor of a copy in memory.
int hold(const held_input& from, const std::stop_token& stop) {
    const int held = ::memfd_create("held-input", 0);
    if (held < 0) fail_to_read(from.name, errno);
    try {
        std::vector<char> block(std::size_t{1} << 20);
        for (;;) {
            wait_for_input(from, stop);
            const ssize_t got = ::read(from.descriptor, block.data(), block.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail_to_read(from.name, errno);
            if (got == 0) return held;
            hold_bytes(from, held, std::span(block).first(static_cast<std::size_t>(got)));
        }
    } catch (...) {
        ::close(held);
        throw;
    }
}

int hold_standard_input(const std::stop_token& stop) {
    if (::isatty(STDIN_FILENO) != 0)
        throw io_error("standard input is a terminal, expected spikes from a file or a pipe");
    return hold({STDIN_FILENO, "standard input"}, stop);
}

int hold_pipe(const std::filesystem::path& pipe, const std::stop_token& stop) {
    const int descriptor = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail_to_read(pipe.string(), errno);
    const std::unique_ptr<const int, void (*)(const int*)> closing(
        &descriptor, [](const int* one) { ::close(*one); });
    return hold({descriptor, pipe.string()}, stop);
}

}  // namespace

held_standard_input::held_standard_input(const std::stop_token& stop)
    : copy_(hold_standard_input(stop)) {}

held_standard_input::held_standard_input(const std::filesystem::path& pipe,
                                         const std::stop_token& stop)
    : copy_(hold_pipe(pipe, stop)) {}

held_standard_input::~held_standard_input() {
    ::close(copy_);
}

std::string held_standard_input::path() const {
    // The path has the number of this process, because another process reads HDF5.
    return fmt::format("/proc/{}/fd/{}", ::getpid(), copy_);
}

}  // namespace spikeweave
