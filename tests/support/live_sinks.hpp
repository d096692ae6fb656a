#pragma once

#include <vector>

#include "live/sinks/sink.hpp"

namespace spikeweave::live {

/// Keeps the last tallies of what is armed.
struct tallied_results : sink {
    std::vector<armed_tally> tallies{};

    void take(const event& what) override {
        what.visit(handlers{
            [&](const armed_tallied& all) { tallies.assign(all.armed.begin(), all.armed.end()); }});
    }
};

}  // namespace spikeweave::live
