#include "support/strategy_cases.hpp"

std::vector<strategy_case> strategy_cases() {
    std::vector<strategy_case> all;
    for (const spikeweave::episode_strategy strategy : spikeweave::available_episode_strategies())
        all.push_back({strategy});
    return all;
}
