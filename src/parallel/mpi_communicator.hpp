#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>

#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave {

/// `mpi_ranks` whose messages go in pieces of at most so many bytes: MPI counts in `int`, and what
/// is done about it must be testable with less than 2 GiB.
/// @throws invalid_argument if this library was built without MPI.
std::shared_ptr<communicator> mpi_ranks_in_pieces(std::size_t piece_bytes,
                                                  std::stop_token stop = {});

}  // namespace spikeweave
