#include "io/helper_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::io {
namespace {

// The header of each request and answer.
struct message_head {
    std::uint64_t bytes = 0;
    std::uint64_t shared_bytes = 0;  // for requests only
    enum kind : std::uint64_t { answer, error, no_memory } kind = answer;
};

[[noreturn]] void fail_to_start(const char* what) {
    throw io_error(fmt::format("cannot be read: starting the reader process failed: {}: {}", what,
                               std::generic_category().message(errno)));
}

// The file descriptors of the helper; all others of the parent are closed in it.
constexpr int helper_socket = 3;
constexpr int helper_alive = 4;
constexpr int helper_memory = 5;

// As closefrom, which glibc has only from 2.34 on.
void close_descriptors_from(int first) {
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
    // Linux before 5.9.
    std::vector<int> open;
    std::error_code unknown;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd", unknown)) {
        const int descriptor = std::stoi(one.path().filename().string());
        if (descriptor >= first) open.push_back(descriptor);
    }
    for (const int descriptor : open) ::close(descriptor);
}

void keep_descriptors(int socket, int alive, int memory) {
    // First copied to higher numbers, because their targets may be in use by each other.
    std::array<int, 3> moved{socket, alive, memory};
    for (int& one : moved) one = ::fcntl(one, F_DUPFD, helper_memory + 1);
    ::dup2(moved[0], helper_socket);
    ::dup2(moved[1], helper_alive);
    ::dup2(moved[2], helper_memory);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(nowhere, standard);
    close_descriptors_from(helper_memory + 1);
}

// The parent's handlers are removed, because they would report a crash of the helper as one of the
// parent. Signals that stop the parent are left to the parent.
void reset_signals() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    for (int number = 1; number < SIGRTMIN; ++number) ::sigaction(number, &usual, nullptr);
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
        ::sigaction(number, &ignored, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The kernel sends SIGIO, which ends the helper at any point, when the last writing end of the pipe
// is closed; the end of the parent closes it. PR_SET_PDEATHSIG would react to the end of the thread
// that started the helper instead.
void end_with_parent() {
    ::fcntl(helper_alive, F_SETOWN, ::getpid());
    ::fcntl(helper_alive, F_SETFL, O_ASYNC | O_NONBLOCK);
    pollfd now{helper_alive, POLLIN, 0};
    if (::poll(&now, 1, 0) > 0) ::_exit(0);
}

void bound_time(std::chrono::seconds most) {
    const itimerval timer{{0, 0}, {most.count(), 0}};
    ::setitimer(ITIMER_PROF, &timer, nullptr);
}

// Ends the helper if the parent is gone.
void read_or_end(std::span<char> into) {
    while (!into.empty()) {
        const ssize_t got = ::read(helper_socket, into.data(), into.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) ::_exit(0);
        into = into.subspan(static_cast<std::size_t>(got));
    }
}

void write_or_end(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::write(helper_socket, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) ::_exit(0);
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

template <class Head>
std::span<char> bytes_of(Head& head) {
    return {reinterpret_cast<char*>(&head), sizeof head};
}

void reply(enum message_head::kind kind, std::string_view text) {
    message_head head{.bytes = text.size(), .kind = kind};
    const std::span<char> bytes = bytes_of(head);
    write_or_end({bytes.data(), bytes.size()});
    write_or_end(text);
}

std::span<char> mapped(int memory, std::size_t bytes) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return {static_cast<char*>(at), bytes};
}

void unmap(std::span<char> memory) {
    if (!memory.empty()) ::munmap(memory.data(), memory.size());
}

void answer_requests(const std::function<helper_process::answering()>& make,
                     std::chrono::seconds most) {
    helper_process::answering answer;
    std::span<char> shared;
    for (std::string request;;) {
        message_head head;
        read_or_end(bytes_of(head));
        bound_time(most);
        try {
            request.resize(head.bytes);
            read_or_end(request);
            if (head.shared_bytes > shared.size()) {
                unmap(std::exchange(shared, {}));
                shared = mapped(helper_memory, head.shared_bytes);
            }
            if (!answer) answer = make();
            reply(message_head::answer, answer(request, shared));
        } catch (const std::bad_alloc&) {
            reply(message_head::no_memory, {});
        } catch (const std::exception& error) {
            reply(message_head::error, error.what());
        }
        bound_time(std::chrono::seconds(0));
    }
}

[[noreturn]] void be_helper(const std::function<helper_process::answering()>& make,
                            std::chrono::seconds most, std::array<int, 3> descriptors) noexcept {
    ::prctl(PR_SET_NAME, "spikeweave-read");
    ::prctl(PR_SET_DUMPABLE, 0);  // its crashes are expected: no core files
    reset_signals();
    keep_descriptors(descriptors[0], descriptors[1], descriptors[2]);
    end_with_parent();
    answer_requests(make, most);
    ::_exit(0);
}

std::string how_it_ended(int status) {
    if (!WIFSIGNALED(status))
        return fmt::format("is damaged: reading it ended early (status {})",
                           WIFEXITED(status) ? WEXITSTATUS(status) : status);
    const int number = WTERMSIG(status);
    if (number == SIGPROF) return "is damaged: reading it did not end";
    if (number == SIGKILL)
        return "the process that reads it was killed, perhaps for lack of memory";
    return fmt::format("is damaged: reading it crashed ({})", ::strsignal(number));
}

void close_if_open(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

}  // namespace

helper_process::helper_process(const std::function<answering()>& make, std::chrono::seconds most)
    : owner_(::getpid()) {
    std::array<int, 2> sockets{-1, -1};
    std::array<int, 2> alive{-1, -1};
    memory_ = ::memfd_create("spikeweave-read", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    // If it could be truncated, reading it would raise SIGBUS in this process.
    const bool made = memory_ >= 0 && ::fcntl(memory_, F_ADD_SEALS, F_SEAL_SHRINK) == 0 &&
                      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0 &&
                      ::pipe2(alive.data(), O_CLOEXEC) == 0;
    if (made) process_ = ::fork();
    if (process_ == 0) be_helper(make, most, {sockets[1], alive[0], memory_});
    const int reason = errno;
    close_if_open(sockets[1]);
    close_if_open(alive[0]);
    socket_ = sockets[0];
    alive_ = alive[1];
    if (process_ > 0) return;
    end();
    errno = reason;
    fail_to_start(made ? "fork" : "descriptors");
}

helper_process::~helper_process() {
    end();
    unmap(shared_);
    close_if_open(memory_);
}

void helper_process::end() noexcept {
    close_if_open(socket_);
    close_if_open(alive_);
    if (process_ > 0 && owner_ == ::getpid()) {
        ::kill(process_, SIGKILL);
        while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    process_ = -1;
}

// Called after the helper closed its socket: it has ended or is about to.
void helper_process::fail() {
    if (ending_.empty()) {
        // If the caller's program collects or ignores all children, the cause remains unknown.
        ending_ = "is damaged: reading it crashed";
        int status = 0;
        pid_t found = 0;
        constexpr int most_looks = 1000;
        for (int look = 0; found == 0 && look < most_looks; ++look) {
            found = ::waitpid(process_, &status, WNOHANG);
            if (found == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        if (found == process_) ending_ = how_it_ended(status);
        if (found != 0) process_ = -1;
        end();
    }
    throw io_error(ending_);
}

void helper_process::make_room(std::size_t bytes) {
    if (bytes <= shared_.size()) return;
    const std::size_t room = std::bit_ceil(bytes);
    if (::ftruncate(memory_, static_cast<off_t>(room)) != 0) throw std::bad_alloc();
    unmap(std::exchange(shared_, {}));
    shared_ = mapped(memory_, room);
}

void helper_process::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail();
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

void helper_process::receive(std::span<char> into, const std::stop_token& stop) {
    constexpr int milliseconds_between_looks = 50;
    while (!into.empty()) {
        pollfd answer{socket_, POLLIN, 0};
        const int ready = ::poll(&answer, 1, milliseconds_between_looks);
        if (stop.stop_requested()) {
            ending_ = "reading it was stopped";
            end();
            throw cancelled();
        }
        if (ready <= 0) continue;
        const ssize_t got = ::read(socket_, into.data(), into.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) fail();
        into = into.subspan(static_cast<std::size_t>(got));
    }
}

std::string helper_process::call(std::string_view request, std::size_t shared_bytes,
                                 const std::stop_token& stop) {
    core::throw_if_stopped(stop);
    if (process_ <= 0) fail();
    make_room(shared_bytes);
    message_head head{.bytes = request.size(), .shared_bytes = shared_.size()};
    const std::span<char> bytes = bytes_of(head);
    send({bytes.data(), bytes.size()});
    send(request);
    receive(bytes, stop);
    if (head.kind == message_head::no_memory) throw std::bad_alloc();
    // A corrupted helper may send anything.
    constexpr std::uint64_t longest_answer = std::uint64_t{1} << 32;
    if (head.bytes > longest_answer) fail();
    std::string text(head.bytes, '\0');
    receive(text, stop);
    if (head.kind == message_head::error) throw io_error(text);
    return text;
}

}  // namespace spikeweave::io
