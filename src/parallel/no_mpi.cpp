#include "parallel/ranks.hpp"
#include "spikeweave/core/error.hpp"

// Linked instead of mpi_communicator.cpp if SPIKEWEAVE_MPI is off.
namespace spikeweave {

namespace parallel {

std::shared_ptr<communicator> mpi_ranks_in_pieces(std::size_t, std::stop_token) {
    return mpi_ranks({});
}

}  // namespace parallel

std::shared_ptr<communicator> mpi_ranks(std::stop_token) {
    throw invalid_argument(
        "this spikeweave was built without MPI, so processes cannot share work (install "
        "libopenmpi-dev and build it again)");
}

}  // namespace spikeweave
