#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"

namespace spikeweave {

/// The pieces of work that fall to this rank: one block of [0, n), all blocks of a size or one
/// less.
struct rank_block {
    std::size_t begin;
    std::size_t end;
};
rank_block block_of_rank(std::size_t n, const execution& run);

/// The bytes of every rank, on every rank.
std::vector<std::string> gather_on_all(std::string bytes, const execution& run);

}  // namespace spikeweave
