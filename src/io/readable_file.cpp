#include "io/readable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "spikeweave/core/pipes.hpp"

namespace spikeweave::io {
namespace {

struct waiting {
    std::mutex one_at_a_time{};
    std::stop_token stop{};
};
waiting& pipes() {
    static waiting all;
    return all;
}

std::stop_token stop_of_pipes() {
    const std::lock_guard lock(pipes().one_at_a_time);
    return pipes().stop;
}

bool is_pipe(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::is_fifo(path, unknown);
}

[[noreturn]] void fail_to_read(const std::string& name, int code) {
    throw io_error(
        fmt::format("{} cannot be read: {}", name, std::generic_category().message(code)));
}

void wait_for_input(int descriptor, const std::string& name, const std::stop_token& stop) {
    constexpr int between_looks_ms = 100;
    pollfd input{.fd = descriptor, .events = POLLIN, .revents = 0};
    for (;;) {
        core::throw_if_stopped(stop);
        const int ready = ::poll(&input, 1, between_looks_ms);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) fail_to_read(name, errno);
    }
}

void hold_bytes(const std::string& name, int to, std::span<const char> bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(to, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) fail_to_read(name, errno);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
}

}  // namespace

int hold(int descriptor, const std::string& name, const std::stop_token& stop) {
    const int held = ::memfd_create("held-input", 0);
    if (held < 0) fail_to_read(name, errno);
    try {
        std::vector<char> block(std::size_t{1} << 20);
        for (;;) {
            wait_for_input(descriptor, name, stop);
            const ssize_t got = ::read(descriptor, block.data(), block.size());
            if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (got < 0) fail_to_read(name, errno);
            if (got == 0) return held;
            hold_bytes(name, held, std::span(block).first(static_cast<std::size_t>(got)));
        }
    } catch (...) {
        ::close(held);
        throw;
    }
}

int hold_pipe(const std::filesystem::path& pipe, const std::stop_token& stop) {
    const std::string name = fmt::format("'{}'", pipe.string());
    // Otherwise a pipe that nothing writes into could not be opened, nor the wait ended.
    const int descriptor = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) fail_to_read(name, errno);
    const std::unique_ptr<const int, void (*)(const int*)> closing(
        &descriptor, [](const int* one) { ::close(*one); });
    return hold(descriptor, name, stop);
}

readable_file::readable_file(std::filesystem::path path) : path_(std::move(path)) {
    if (!is_pipe(path_)) return;
    copy_ = hold_pipe(path_, stop_of_pipes());
    path_ = fmt::format("/proc/self/fd/{}", copy_);
}

readable_file::~readable_file() {
    if (copy_ >= 0) ::close(copy_);
}

std::ifstream open_given(const std::filesystem::path& path) {
    const readable_file file(path);
    return std::ifstream(file.path(), std::ios::binary);
}

std::ifstream open_found(const std::filesystem::path& path) {
    refuse_pipe(path);
    return std::ifstream(path, std::ios::binary);
}

void refuse_pipe(const std::filesystem::path& path) {
    if (is_pipe(path)) throw file_error(path, "is a pipe, expected a file");
}

}  // namespace spikeweave::io

namespace spikeweave {

void stop_waiting_for_pipes(std::stop_token stop) {
    io::waiting& all = io::pipes();
    const std::lock_guard lock(all.one_at_a_time);
    all.stop = std::move(stop);
}

}  // namespace spikeweave
