#pragma once

#include <span>
#include <string>
#include <vector>

#include "live/sink.hpp"

namespace spikeweave::live {

/// Keeps the last tallies of what is armed.
struct tallied_results : sink {
    std::vector<armed_tally> tallies{};

    void tallied(std::span<const armed_tally> armed) override {
        tallies.assign(armed.begin(), armed.end());
    }
};

}  // namespace spikeweave::live
