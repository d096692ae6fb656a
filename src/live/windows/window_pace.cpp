#include "live/windows/window_pace.hpp"

#include <algorithm>
#include <cmath>

#include "spikeweave/core/memory.hpp"

namespace spikeweave::live {
namespace {

constexpr double longest_us = 1e15;  // 30 years

std::optional<duration> budget_of(const live_options& options,
                                  const episode_window_options& windows) {
    if (options.window_budget) {
        if (*options.window_budget == duration{0}) return {};
        return options.window_budget;
    }
    if (options.speed == 0) return {};
    const duration hop = windows.hop == duration{0} ? windows.length : windows.hop;
    const double us = std::ceil(static_cast<double>(hop.count()) / options.speed);
    return duration{static_cast<std::int64_t>(std::min(us, longest_us))};
}

// A search needs a moment to end, and what it has found is written as text and as a record, so it
// ends when half of what the process may have is in use.
std::uint64_t bound_of(std::uint64_t most) {
    if (most == 0) most = resident_memory_bytes() + available_memory_bytes() / 5 * 4;
    return most / 2;
}

}  // namespace

window_pace pace_of(const live_options& options, const episode_window_options& windows) {
    window_pace pace{.beside = options.speed > 0, .budget = budget_of(options, windows)};
    if (pace.budget) pace.max_memory_bytes = bound_of(windows.mining.max_memory_bytes);
    return pace;
}

}  // namespace spikeweave::live
