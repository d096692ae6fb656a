#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "live/arming/arming.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

namespace spikeweave::live {

/// Which episodes have been significant in enough of the last windows.
class arming_rule {
public:
    explicit arming_rule(const arming_options& options)
        : needed_(options.arm_after), windows_(options.arm_windows) {}

    /// Takes those that are significant in the next window, each once. Returns those that have been
    /// in enough windows, in order.
    std::vector<episode> add(std::vector<episode> significant);

private:
    std::uint64_t needed_;
    std::uint64_t windows_;
    std::deque<std::vector<episode>> last_{};
};

/// @throws invalid_argument if these windows overlap whatever is chosen among them.
void check_deciding_windows(const episode_window_options& windows);
/// Whether a window is one of those that decide. They do not overlap, and begin at the
/// multiples of the length, or are all of them if there are gaps between them.
bool decides_arming(const window_bounds& window, const episode_window_options& windows);
/// When a decision on a window takes effect: a hop after its end.
std::int64_t due_after(const window_bounds& window, const episode_window_options& windows);

}  // namespace spikeweave::live
