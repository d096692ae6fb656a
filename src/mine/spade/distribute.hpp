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

/// Makes all parts on the threads and ranks of `run` and hands them on in their order, on rank 0.
/// Costs are guesses, by which parts are dealt out to ranks.
void for_each_part(std::span<const double> costs, const execution& run,
                   const std::function<mined_part(std::size_t)>& make,
                   const std::function<void(mined_part)>& consume);

}  // namespace spikeweave::spade
