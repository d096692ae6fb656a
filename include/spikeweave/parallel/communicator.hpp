#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spikeweave {

/// The processes ("ranks") that compute one result together. All calls but `rank` and `size` are
/// collective: every rank makes them, in the same order, from one thread at a time.
class communicator {
public:
    communicator() = default;
    virtual ~communicator() = default;
    communicator(const communicator&) = delete;
    communicator& operator=(const communicator&) = delete;
    communicator(communicator&&) = delete;
    communicator& operator=(communicator&&) = delete;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The cores that this rank should keep busy: those it may use, divided among the ranks of the
    /// same machine that may use them too. What `execution::threads` 0 means where there are ranks.
    virtual int cores() const = 0;
    /// The bytes of every rank, in the order of ranks, on rank 0; nothing on the others.
    virtual std::vector<std::string> gather(std::string bytes) = 0;
    /// The bytes of rank 0, on every rank.
    virtual std::string broadcast(std::string bytes) = 0;
    /// Adds up over ranks, on every rank.
    virtual void sum(std::span<std::uint64_t> values) = 0;
    /// Ends the processes of all ranks with this exit code, without waiting for any.
    [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// One rank: this process.
std::shared_ptr<communicator> local_rank();

/// All processes that `mpirun` started. MPI is initialised by the first call and finalised when the
/// process ends, unless the program does so itself; a rank that gives up must call `abort`, since
/// the others would wait for it.
/// @param stop  once it is requested, a call that waits for other ranks throws `cancelled`; nothing
/// but `abort` may be called then
/// @throws invalid_argument if this library was built without MPI.
std::shared_ptr<communicator> mpi_ranks(std::stop_token stop = {});

/// How many processes a launcher says it started of this program (Open MPI, PMIx, Slurm), 1
/// without one: known before MPI is touched.
int launched_ranks();
/// Which of them this process is, 0 without a launcher.
int launched_rank();

}  // namespace spikeweave
