#pragma once

#include <span>
#include <string>
#include <vector>

#include "live/session.hpp"

namespace spikeweave::live {

/// Ignores all results; the base of sinks that keep some.
struct ignoring_sink : sink {
    void units_added(std::span<const std::string>) override {}
    void detected(const detection&) override {}
    void mined(const mined_window&) override {}
    void epoch_ended() override {}
    void block_ended(const session_counts&) override {}
    void session_ended(const session_counts&) override {}
};

/// Keeps the last tallies of what is armed.
struct tallied_results : ignoring_sink {
    std::vector<armed_tally> tallies{};

    void tallied(std::span<const armed_tally> armed) override {
        tallies.assign(armed.begin(), armed.end());
    }
};

}  // namespace spikeweave::live
