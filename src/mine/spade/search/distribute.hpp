#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "mine/spade/search/miners.hpp"

namespace spikeweave::spade {

/// The patterns that one part of a search found.
struct mined_part {
    pattern_table patterns{};
    mining_summary summary{};
};

/// Takes the patterns found so far from a part, and leaves it empty.
using part_taker = std::function<void(mined_part& so_far)>;

/// Makes all parts on the threads and ranks of `run` and passes them on in order, on rank 0. The
/// parts are distributed among ranks by their estimated costs. `make(i, grown)` calls `grown` from
/// time to time with its patterns so far, which is passed on as soon as it is its turn; the call
/// waits for that turn if all parts together exceed the bound on memory. Ranks hold their parts
/// completely.
void for_each_part(std::span<const double> costs, const execution& run,
                   const std::function<mined_part(std::size_t, const part_taker& grown)>& make,
                   const std::function<void(mined_part)>& consume);

}  // namespace spikeweave::spade
