#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>

#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave::parallel {

/// Like `mpi_ranks`, but sends messages in pieces of at most this many bytes. MPI counts in `int`,
/// so that long messages must be split; with this, tests need less than 2 GiB.
/// @throws invalid_argument if this library was built without MPI.
std::shared_ptr<communicator> mpi_ranks_in_pieces(std::size_t piece_bytes,
                                                  std::stop_token stop = {});

}  // namespace spikeweave::parallel
