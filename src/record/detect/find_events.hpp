#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/detect/trace_steps.hpp"

namespace spikeweave::record {

/// A connected set that reaches the strong threshold.
struct event {
    std::int64_t frame = 0;
    std::uint32_t channel = 0;
    std::uint32_t channel_count = 0;
    std::size_t first_height = 0;
};

struct event_rule {
    std::vector<std::vector<std::uint32_t>> neighbours{};
    std::uint32_t join_frames = 0;
    std::int64_t longest_frames = 0;
    float strong = 0;
};

struct found_events {
    std::vector<event> events{};  ///< ordered by frame, then by channel
    /// The highest sample of each event on each of its channels, ascending.
    std::vector<crossing> heights{};
    std::size_t cut = 0;

    std::span<const crossing> heights_of(const event& which) const {
        return std::span{heights}.subspan(which.first_height, which.channel_count);
    }
};

/// Finds the events of a recording. Each thread finds the sets that lie within its piece; those
/// that may extend beyond a piece are then joined sequentially. Each rank finds those of a block of
/// pieces; every rank gets all events.
found_events find_events(const trace_steps& steps, const event_rule& rule, const execution& run);

}  // namespace spikeweave::record
