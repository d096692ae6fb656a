#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "spikeweave/core/execution.hpp"

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

}  // namespace spikeweave::parallel
