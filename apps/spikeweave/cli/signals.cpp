#include "cli/signals.hpp"

#include <unistd.h>

#include <csignal>
#include <semaphore>
#include <thread>

namespace spikeweave::cli {
namespace {

constexpr int exit_stopped = 130;

bool ignored(int number) {
    struct sigaction action {};
    return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

std::stop_token stop_on_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);

    sigset_t stopping;
    sigemptyset(&stopping);
    // Signals that a shell or nohup has switched off stay off.
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        if (!ignored(number)) sigaddset(&stopping, number);
    pthread_sigmask(SIG_BLOCK, &stopping, nullptr);

    // Signals have a thread of their own, because a handler may call almost nothing. It has begun
    // to wait before anything else is done: a process that is forked while another thread allocates
    // cannot allocate under the address sanitizer.
    static std::binary_semaphore has_begun{0};
    std::stop_source source;
    std::thread([stopping, source]() mutable {
        int number = 0;
        has_begun.release();
        if (sigwait(&stopping, &number) == 0) source.request_stop();
        if (sigwait(&stopping, &number) == 0) ::_exit(exit_stopped);
    }).detach();
    has_begun.acquire();
    return source.get_token();
}

}  // namespace spikeweave::cli
