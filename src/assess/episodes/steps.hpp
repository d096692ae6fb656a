#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::assess {

/// The pair of units k and k + 1 of an episode, with the delay between them.
inline episode step_of(const episode& what, std::size_t k) {
    return {{what.units[k], what.units[k + 1]}, {what.delays[k]}};
}

inline const episode& episode_in(const episode& one) {
    return one;
}
inline const episode& episode_in(const counted_episode& one) {
    return one.what;
}

/// The longest delay of these episodes: how far epochs have to be apart.
template <class Episodes>
duration reach_of(const Episodes& episodes) {
    duration reach{0};
    for (const auto& one : episodes)
        for (const delay_interval& delay : episode_in(one).delays)
            reach = std::max(reach, delay.high);
    return reach;
}

}  // namespace spikeweave::assess
