#include "assess/episodes/start_windows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/spike_walks.hpp"

namespace spikeweave::assess {

// A delay d fits when low < d <= high: starts lie in [at - high, at - low).
void find_start_windows(std::span<const completion> rest, const delay_interval& delay,
                        std::vector<start_window>& out) {
    out.clear();
    std::int64_t covered = std::numeric_limits<std::int64_t>::min();
    for (const completion& next : rest) {
        const std::int64_t begin = std::max(next.at - delay.high.count(), covered);
        const std::int64_t end = next.at - delay.low.count();
        if (begin < end) out.push_back({begin, end, next.until});
        covered = end;
    }
}

void find_completions(std::span<const std::int64_t> times, std::span<const start_window> windows,
                      std::vector<completion>& out) {
    out.clear();
    std::size_t window = 0;
    for (const std::int64_t t : times) {
        window = core::skip_while(window, windows.size(),
                                  [&](std::size_t w) { return windows[w].end <= t; });
        if (window == windows.size()) return;
        if (windows[window].begin <= t) out.push_back({t, windows[window].until});
    }
}

std::vector<std::int64_t> those_after(std::span<const std::int64_t> before,
                                      const delay_interval& delay,
                                      std::span<const std::int64_t> times) {
    std::vector<std::int64_t> out;
    auto first = before.begin();
    for (const std::int64_t t : times) {
        while (first != before.end() && *first < t - delay.high.count()) ++first;
        if (first != before.end() && *first < t - delay.low.count()) out.push_back(t);
    }
    return out;
}

void keep_after(std::span<const std::int64_t> before, const delay_interval& delay,
                std::vector<start_window>& windows) {
    std::vector<start_window> kept;
    auto first = before.begin();
    for (const start_window& window : windows) {
        // A spike reaches the times more than `low` and at most `high` after it; the ranges of
        // neighbouring spikes may overlap.
        while (first != before.end() && *first + delay.high.count() < window.begin) ++first;
        std::int64_t free = window.begin;
        for (auto spike = first; spike != before.end(); ++spike) {
            const std::int64_t begin = std::max(free, *spike + delay.low.count() + 1);
            const std::int64_t end = std::min(window.end, *spike + delay.high.count() + 1);
            if (*spike + delay.low.count() + 1 >= window.end) break;
            if (begin < end) kept.push_back({begin, end, window.until});
            free = std::max(free, end);
        }
    }
    windows = std::move(kept);
}

}  // namespace spikeweave::assess
