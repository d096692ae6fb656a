#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mine/episodes/search/candidates.hpp"
#include "mine/episodes/search/counters.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::episodes {

/// Episodes as counters take them: lists of candidates of one size, with numbered delays.
struct episode_lists {
    struct list {
        candidate_set candidates{};
        std::vector<std::size_t> which{};  ///< the place of each among the episodes
    };
    std::vector<interval_us> intervals{};
    duration reach{0};          ///< the longest delay
    std::vector<list> lists{};  ///< by size, from the smallest on

    /// @throws invalid_argument if an episode is not one of this many units.
    episode_lists(std::span<const episode> episodes, std::size_t unit_count);
};

}  // namespace spikeweave::episodes
