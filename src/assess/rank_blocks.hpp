#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"

namespace spikeweave::assess {

/// The pieces of work of this rank: one block of [0, n). The sizes of the blocks differ by at most
/// one.
struct rank_block {
    std::size_t begin;
    std::size_t end;
};
rank_block block_of_rank(std::size_t n, const execution& run);

/// Sends the bytes of every rank to every rank.
std::vector<std::string> gather_on_all(std::string bytes, const execution& run);

}  // namespace spikeweave::assess
