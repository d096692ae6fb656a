#include "parallel/mpi_communicator.hpp"
#include "synfire/core/error.hpp"

// Linked in place of mpi_communicator.cpp where SYNFIRE_MPI is off.
namespace synfire {

std::shared_ptr<communicator> mpi_ranks_in_pieces(std::size_t, std::stop_token) {
    return mpi_ranks({});
}

std::shared_ptr<communicator> mpi_ranks(std::stop_token) {
    throw invalid_argument(
        "this synfire was built without MPI, so processes cannot share work (build it with "
        "-D SYNFIRE_MPI=ON)");
}

}  // namespace synfire
