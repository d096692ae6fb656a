#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "spikeweave/mine/episodes.hpp"

/// A strategy and where it runs. Tests of every strategy are built twice: for the CPU, and with
/// gpu_main.cpp for devices.
struct strategy_case {
    spikeweave::episode_strategy strategy;
    std::vector<int> devices{};

    spikeweave::execution run(int threads = 0) const {
        return {.threads = threads, .devices = devices};
    }
};

/// The cases of this executable.
std::vector<strategy_case> strategy_cases();

/// "latest_start" or "latest_start_on_0_0", for names of tests.
inline std::string label(const strategy_case& one) {
    std::string text(to_string(one.strategy));
    std::replace(text.begin(), text.end(), '-', '_');
    if (!one.devices.empty()) text += "_on";
    for (const int ordinal : one.devices) text += "_" + std::to_string(ordinal);
    return text;
}

inline std::ostream& operator<<(std::ostream& out, const strategy_case& one) {
    return out << label(one);
}
