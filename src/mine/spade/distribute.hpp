#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "mine/spade/miners.hpp"

namespace spikeweave::spade {

/// What one part of a search found.
struct mined_part {
    pattern_table patterns{};
    mining_summary summary{};
};

/// Takes what there is of a part, and leaves it empty.
using part_taker = std::function<void(mined_part& so_far)>;

/// Makes all parts on the threads and ranks of `run` and hands them on in their order, on rank 0.
/// Costs are guesses, by which parts are dealt out to ranks. `make(i, grown)` calls `grown` now and
/// then with what it has so far, which is handed on as soon as it is its turn; it waits for that
/// where all parts together hold more than they should. Ranks hold their parts whole.
void for_each_part(std::span<const double> costs, const execution& run,
                   const std::function<mined_part(std::size_t, const part_taker& grown)>& make,
                   const std::function<void(mined_part)>& consume);

}  // namespace spikeweave::spade
