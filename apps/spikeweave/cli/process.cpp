#include "cli/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <semaphore>
#include <thread>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

constexpr int exit_stopped = 130;

bool ignored(int number) {
    struct sigaction action {};
    return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// All other commands would do all of their work on every rank.
constexpr std::array<std::string_view, 4> sharing_commands{"spade", "episodes", "count", "sort"};

void drop_standard_output() {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere == -1 || ::dup2(nowhere, STDOUT_FILENO) == -1)
        throw std::runtime_error("cannot open /dev/null in place of standard output");
    ::close(nowhere);
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

std::shared_ptr<communicator> join_ranks(std::string_view command_name,
                                         const std::stop_token& stop) {
    const int launched = launched_ranks();
    if (launched == 1) return nullptr;
    if (std::find(sharing_commands.begin(), sharing_commands.end(), command_name) ==
        sharing_commands.end())
        throw invalid_argument(
            fmt::format("{} cannot share its work, and {} processes were started: run it without "
                        "the launcher (mpirun, srun)",
                        command_name, launched));
    auto ranks = mpi_ranks(stop);
    if (ranks->size() != launched)
        throw invalid_argument(fmt::format(
            "the launcher started {} processes, but MPI knows of {}: use the mpirun of the MPI "
            "that spikeweave was built with (with Slurm: srun --mpi=pmix)",
            launched, ranks->size()));
    if (ranks->rank() > 0) drop_standard_output();
    return ranks;
}

std::string message_prefix() {
    if (launched_ranks() == 1) return "spikeweave: ";
    return fmt::format("spikeweave: rank {}: ", launched_rank());
}

bool should_report(const std::stop_token& stop) {
    using namespace std::chrono_literals;
    const int rank = launched_rank();
    if (rank == 0) return true;
    // The ranks do not report at the same time, either.
    const auto until = std::chrono::steady_clock::now() + 2s + std::min(rank, 20) * 100ms;
    while (std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
    return !stop.stop_requested();
}

}  // namespace spikeweave::cli
