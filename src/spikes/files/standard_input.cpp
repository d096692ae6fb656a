#include "spikeweave/spikes/standard_input.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

[[noreturn]] void fail_to_read(int code) {
    throw io_error("standard input cannot be read: " + std::generic_category().message(code));
}

void wait_for_input(const std::stop_token& stop) {
    constexpr int between_looks_ms = 100;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    for (;;) {
        if (stop.stop_requested()) throw cancelled();
        const int ready = ::poll(&input, 1, between_looks_ms);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) fail_to_read(errno);
    }
}

void hold_bytes(int to, std::span<const char> bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(to, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) fail_to_read(errno);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
}

// Returns a descriptor of a copy in memory.
int hold_standard_input(const std::stop_token& stop) {
    if (::isatty(STDIN_FILENO) != 0)
        throw io_error("standard input is a terminal, expected spikes from a file or a pipe");
    const int held = ::memfd_create("standard-input", 0);
    if (held < 0) fail_to_read(errno);
    try {
        std::vector<char> block(std::size_t{1} << 20);
        for (;;) {
            wait_for_input(stop);
            const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail_to_read(errno);
            if (got == 0) return held;
            hold_bytes(held, std::span(block).first(static_cast<std::size_t>(got)));
        }
    } catch (...) {
        ::close(held);
        throw;
    }
}

}  // namespace

held_standard_input::held_standard_input(const std::stop_token& stop)
    : copy_(hold_standard_input(stop)) {}

held_standard_input::~held_standard_input() {
    ::close(copy_);
}

std::string held_standard_input::path() const {
    // The path has the number of this process, because another process reads HDF5.
    return fmt::format("/proc/{}/fd/{}", ::getpid(), copy_);
}

}  // namespace spikeweave
