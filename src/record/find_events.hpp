#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/trace_steps.hpp"

namespace spikeweave {

/// A connected set that reaches the strong threshold.
struct event {
    std::int64_t frame = 0;
    std::uint32_t channel = 0;
    std::vector<channel_peak> peaks{};
};

struct event_rule {
    std::vector<std::vector<std::uint32_t>> neighbours{};
    std::uint32_t join_frames = 0;
    std::int64_t longest_frames = 0;
    float strong = 0;
};

struct found_events {
    std::vector<event> events{};  ///< by frames, then by channels
    std::size_t cut = 0;
};

/// The events of a recording. Sets that lie within a piece are found by the thread that has made
/// it; those that may go on beyond its ends, one piece after another.
found_events find_events(const trace_steps& steps, const event_rule& rule, const execution& run);

}  // namespace spikeweave
