#include "support/ways.hpp"

std::vector<way> every_way() {
    std::vector<way> all;
    for (const spikeweave::episode_strategy strategy : spikeweave::available_episode_strategies())
        all.push_back({strategy});
    return all;
}
