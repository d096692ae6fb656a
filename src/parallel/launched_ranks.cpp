#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "parallel/ranks.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave {

namespace {

struct launcher {
    const char* size;
    const char* rank;
    const char* rank_on_host;
};

// mpirun is first, since it may itself run inside srun. SLURM_NTASKS does not prove that srun is
// the launcher, because it is also set in a batch script, which is a single process.
constexpr std::array<launcher, 3> launchers{{
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},  // Open MPI
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"},                // MPICH and relatives
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID"},  // srun
}};

// Returns -1 if the variable is not set or not a number.
int number_in(const char* variable) {
    const char* const found = std::getenv(variable);
    if (found == nullptr) return -1;
    const std::string_view text(found);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? number : -1;
}

}  // namespace

int launched_ranks() {
    for (const launcher& one : launchers)
        if (const int size = number_in(one.size); size > 0) return size;
    return 1;
}

int launched_rank() {
    for (const launcher& one : launchers) {
        const int size = number_in(one.size);
        if (size <= 0) continue;
        const int rank = number_in(one.rank);
        return rank > 0 && rank < size ? rank : 0;
    }
    return 0;
}

int parallel::rank_on_host() {
    for (const launcher& one : launchers)
        if (number_in(one.size) > 0) return std::max(number_in(one.rank_on_host), 0);
    return 0;
}

std::vector<int> parallel::devices_of_this_rank(const std::vector<int>& all, const execution& run) {
    if (all.empty() || !is_shared(run)) return all;
    return {all[static_cast<std::size_t>(rank_on_host()) % all.size()]};
}

}  // namespace spikeweave
