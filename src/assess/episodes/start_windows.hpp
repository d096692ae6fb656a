#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::assess {

/// All times here are whole microseconds.

/// A spike from which the rest of an episode follows, and the earliest time at which it can be
/// over.
struct completion {
    std::int64_t at;
    std::int64_t until;
};

/// The times in [begin, end), from which the rest of an episode follows, and the time at which it
/// is over.
struct start_window {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t until;
};

/// All times whose distance to a later one of `rest` fits the delay, each with the first one that
/// fits. The windows are ascending and do not overlap.
void find_start_windows(std::span<const completion> rest, const delay_interval& delay,
                        std::vector<start_window>& out);

/// The elements of `times` that lie in a window.
void find_completions(std::span<const std::int64_t> times, std::span<const start_window> windows,
                      std::vector<completion>& out);

/// The elements of `times` whose distance to an earlier one of `before` fits the delay.
std::vector<std::int64_t> those_after(std::span<const std::int64_t> before,
                                      const delay_interval& delay,
                                      std::span<const std::int64_t> times);

/// Cuts the windows down to the times whose distance to an earlier one of `before` fits the delay.
void keep_after(std::span<const std::int64_t> before, const delay_interval& delay,
                std::vector<start_window>& windows);

}  // namespace spikeweave::assess
