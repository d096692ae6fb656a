#include "support/ways.hpp"

std::vector<way> every_way() {
    std::vector<way> all;
    for (const synfire::episode_strategy strategy : synfire::available_episode_strategies())
        all.push_back({strategy});
    return all;
}
