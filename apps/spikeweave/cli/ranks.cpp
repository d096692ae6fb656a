#include "cli/ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

// All other commands would do all of their work on every rank.
constexpr std::array<std::string_view, 4> sharing_commands{"spade", "episodes", "count", "sort"};

void drop_standard_output() {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere == -1 || ::dup2(nowhere, STDOUT_FILENO) == -1)
        throw std::runtime_error("cannot open /dev/null in place of standard output");
    ::close(nowhere);
}

}  // namespace

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
