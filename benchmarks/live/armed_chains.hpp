#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/mine/episodes/detector.hpp"

/// 100 episodes of four units that occur in the spikes of the stand-in for the Open Ephys GUI: its
/// units follow each other in leaps, so the fourtieth spike after one is always of the same unit.
namespace spikeweave {

constexpr std::int64_t chain_units = 1000;

inline std::int64_t chain_unit_of(std::int64_t spike) {
    constexpr std::int64_t leap = 617;
    return spike * leap % chain_units;
}

inline std::vector<std::string> chain_unit_names() {
    std::vector<std::string> names;
    for (std::int64_t unit = 0; unit < chain_units; ++unit)
        names.push_back(fmt::format("E{}", unit));
    return names;
}

inline std::vector<armed_episode> armed_chains() {
    using namespace std::chrono_literals;
    std::vector<armed_episode> armed(100);
    for (std::size_t chain = 0; chain < armed.size(); ++chain) {
        auto& what = armed[chain].what;
        for (std::int64_t step = 0; step < 4; ++step) {
            const std::int64_t spike = 10 * static_cast<std::int64_t>(chain) + 40 * step;
            what.units.push_back(unit_id{static_cast<std::uint32_t>(chain_unit_of(spike))});
            if (step > 0) what.delays.push_back({0us, 3ms});
        }
    }
    return armed;
}

/// As a file for `--episodes`.
inline std::string armed_chains_as_text() {
    std::string text;
    for (const auto& [what, fire_at] : armed_chains()) {
        for (std::size_t step = 0; step < what.size(); ++step)
            text += fmt::format("{}E{}", step > 0 ? " 0-3ms " : "", to_index(what.units[step]));
        text += '\n';
    }
    return text;
}

}  // namespace spikeweave
