#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The processes ("ranks") that compute one result together. All calls except `rank` and `size` are
/// collective: every rank must make them, in the same order, from one thread at a time.
class SPIKEWEAVE_API communicator {
public:
    communicator() = default;
    virtual ~communicator() = default;
    communicator(const communicator&) = delete;
    communicator& operator=(const communicator&) = delete;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The number of cores that this rank should keep busy: the cores that it may use, divided
    /// among the ranks of the same machine that may use them too. With ranks, `execution::threads`
    /// = 0 means this number.
    virtual int cores() const = 0;
    /// Sends the bytes of every rank to rank 0, which gets them in the order of ranks. The other
    /// ranks get an empty list.
    virtual std::vector<std::string> gather(std::string bytes) = 0;
    /// Sends the bytes of rank 0 to every rank.
    virtual std::string broadcast(std::string bytes) = 0;
    /// Replaces each value by its sum over all ranks, on every rank.
    virtual void sum(std::span<std::uint64_t> values) = 0;
    /// Ends the processes of all ranks with this exit code, without waiting for any of them.
    [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// A communicator of one rank: this process.
SPIKEWEAVE_API std::shared_ptr<communicator> local_rank();

/// A communicator of all processes that `mpirun` started. The first call initialises MPI, and it is
/// finalised when the process ends, unless the program does so itself. A rank that fails must call
/// `abort`, since the others would wait for it.
/// @param stop  once a stop is requested, a call that waits for other ranks throws `cancelled`;
/// after that only `abort` may be called
/// @throws invalid_argument if this library was built without MPI.
SPIKEWEAVE_API std::shared_ptr<communicator> mpi_ranks(std::stop_token stop = {});

/// The number of processes of this program that the launcher (Open MPI, PMIx, Slurm) reports; 1
/// without a launcher. It is known before MPI is touched.
SPIKEWEAVE_API int launched_ranks();
/// The number of this process among them, from 0; 0 without a launcher.
SPIKEWEAVE_API int launched_rank();

}  // namespace spikeweave
