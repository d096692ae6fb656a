#pragma once

#include <algorithm>
#include <span>

#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::assess {

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
