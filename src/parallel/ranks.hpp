#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave::parallel {

/// Pieces of work of one rank: a block of [0, n). The blocks of all ranks follow each other.
struct rank_block {
    std::size_t begin;
    std::size_t end;

    std::size_t size() const { return end - begin; }
};

/// Whether several ranks share the work.
bool is_shared(const execution& run);

/// The same run of this rank alone, which keeps its share of the cores.
execution without_ranks(const execution& run);

/// The block of this rank. The sizes of the blocks differ by at most one.
rank_block block_of_rank(std::size_t n, const execution& run);
/// The same for pieces that cost these, not negative: blocks cost about the same.
rank_block block_of_rank(std::span<const double> costs, const execution& run);

/// Sends the bytes of every rank to every rank.
std::vector<std::string> gather_on_all(std::string bytes, const execution& run);

/// Replaces values by those of all ranks, in the order of ranks: those of this rank's block by
/// those of [0, n).
template <class Value>
void join_ranks(std::vector<Value>& values, const execution& run) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (!is_shared(run)) return;
    std::string own(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
    values = {};  // before those of all ranks need the memory
    std::vector<std::string> all = gather_on_all(std::move(own), run);
    std::size_t bytes = 0;
    for (const std::string& part : all) bytes += part.size();
    values.resize(bytes / sizeof(Value));
    auto* to = reinterpret_cast<char*>(values.data());
    for (std::string& part : all) {
        if (!part.empty()) std::memcpy(to, part.data(), part.size());
        to += part.size();
        part = {};
    }
}

/// Replaces each value by its sum over all ranks.
void sum_ranks(std::span<std::int64_t> values, const execution& run);
void sum_ranks(std::uint64_t& value, const execution& run);

/// Divides tasks among ranks so that their estimated costs are about equal: the most expensive task
/// comes first, and each goes to the rank with the lowest cost so far (longest processing time
/// first; never more than 4/3 of the best division). Every rank computes the same result.
///
/// @param costs  costs of the tasks in any unit, not negative.
/// @param ranks  number of ranks, at least 1.
/// @return the tasks of each rank, ascending.
/// @throws invalid_argument if a cost is negative or not finite, or if there are no ranks.
///
/// R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17 (1969).
std::vector<std::vector<std::size_t>> balance(std::span<const double> costs, int ranks);

/// The number of this process among those of the launcher on the same host, from 0; 0 without a
/// launcher, or if it does not say.
int rank_on_host();

/// All of these devices, or the one of this rank if several ranks share the work: each takes one,
/// by its place among the ranks of its host.
std::vector<int> devices_of_this_rank(const std::vector<int>& all, const execution& run);

/// Like `mpi_ranks`, but sends messages in pieces of at most this many bytes. MPI counts in `int`,
/// so that long messages must be split; with this, tests need less than 2 GiB.
/// @throws invalid_argument if this library was built without MPI.
std::shared_ptr<communicator> mpi_ranks_in_pieces(std::size_t piece_bytes,
                                                  std::stop_token stop = {});

}  // namespace spikeweave::parallel
