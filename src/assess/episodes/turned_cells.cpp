#include "assess/episodes/turned_cells.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace spikeweave::assess {
namespace {

// The contents of one cell, in times from its beginning.
struct cell {
    std::int64_t length;
    std::span<const std::int64_t> spikes;
    std::span<const start_window> windows;
    std::int64_t begin;
};

class cell_turner {
public:
    cell_turner(std::int64_t gap, turned_counts& out) : gap_(gap), out_(out) {}

    void add(const cell& what) {
        if (what.spikes.size() == 1) return add_single(what);
        load(what);
        out_.as_recorded += starts_after(0, what.length);
        find_turns(what.length);
        probabilities_.assign(positions_.size(), 0);
        const auto length = static_cast<double>(what.length);
        for (std::size_t i = 0; i < turns_.size(); ++i) {
            const std::int64_t next = i + 1 < turns_.size() ? turns_[i + 1] : what.length;
            if (const std::size_t starts = starts_after(turns_[i], what.length); starts > 0)
                probabilities_[starts - 1] += static_cast<double>(next - turns_[i]) / length;
        }
        while (!probabilities_.empty() && !(probabilities_.back() > 0)) probabilities_.pop_back();
        if (!probabilities_.empty()) out_.turned.add(probabilities_);
    }

private:
    // In a cell with more rotations that matter, evenly spaced ones are examined.
    static constexpr std::size_t most_turns = 200;
    static constexpr std::int64_t spaced_turns = 64;

    void add_single(const cell& what) {
        std::int64_t covered = 0;
        const std::int64_t spike = what.spikes.front();
        for (const start_window& window : what.windows) {
            covered +=
                std::min(window.end, what.begin + what.length) - std::max(window.begin, what.begin);
            out_.as_recorded += window.begin <= spike && spike < window.end ? 1 : 0;
        }
        out_.turned.add(static_cast<double>(covered) / static_cast<double>(what.length));
    }

    void load(const cell& what) {
        positions_.clear();
        windows_.clear();
        for (const std::int64_t t : what.spikes) positions_.push_back(t - what.begin);
        for (const start_window& window : what.windows)
            windows_.push_back({std::max<std::int64_t>(0, window.begin - what.begin),
                                std::min(what.length, window.end - what.begin),
                                window.until - what.begin});
    }

    // Between two of these rotations, the order of the spikes does not change, nor the window that
    // each is in, nor which spikes precede the end of an occurrence.
    void find_turns(std::int64_t length) {
        turns_.clear();
        turns_.push_back(0);
        if (positions_.size() * (3 * windows_.size() + 1) > most_turns) {
            for (std::int64_t i = 1; i < spaced_turns; ++i)
                turns_.push_back(length * i / spaced_turns);
        } else {
            for (const std::int64_t x : positions_) {
                turns_.push_back((length - x) % length);
                for (const start_window& window : windows_) {
                    turns_.push_back((window.begin - x + length) % length);
                    turns_.push_back((window.end - x + length) % length);
                    if (const std::int64_t free = window.until + gap_; free < length)
                        turns_.push_back((free - x + length) % length);
                }
            }
            std::sort(turns_.begin(), turns_.end());
        }
        turns_.erase(std::unique(turns_.begin(), turns_.end()), turns_.end());
    }

    std::size_t starts_after(std::int64_t turn, std::int64_t length) const {
        const auto wrapped = std::lower_bound(positions_.begin(), positions_.end(), length - turn);
        std::int64_t free = std::numeric_limits<std::int64_t>::min();
        std::size_t starts = 0;
        auto window = windows_.begin();
        const auto visit = [&](std::int64_t t) {
            while (window != windows_.end() && window->end <= t) ++window;
            if (window == windows_.end() || t < window->begin || t < free) return;
            ++starts;
            free = window->until + gap_;
        };
        for (auto x = wrapped; x != positions_.end(); ++x) visit(*x + turn - length);
        for (auto x = positions_.begin(); x != wrapped; ++x) visit(*x + turn);
        return starts;
    }

    std::int64_t gap_;
    turned_counts& out_;
    std::vector<std::int64_t> positions_;
    std::vector<start_window> windows_;
    std::vector<std::int64_t> turns_;
    std::vector<double> probabilities_;
};

}  // namespace

turned_counts turned_starts(std::span<const std::int64_t> spikes,
                            std::span<const start_window> windows, const cell_grid& grid,
                            std::int64_t gap) {
    turned_counts out;
    cell_turner turner(gap, out);
    std::size_t window = 0;
    auto span = grid.observed.begin();
    for (std::size_t first = 0; first < spikes.size() && window < windows.size();) {
        while (span->end.count() < spikes[first]) ++span;
        const std::int64_t origin = span->begin.count();
        const std::int64_t begin = origin + (spikes[first] - origin) / grid.width * grid.width;
        const std::int64_t end = std::min(begin + grid.width, span->end.count() + 1);
        std::size_t behind = first + 1;
        while (behind < spikes.size() && spikes[behind] < end) ++behind;
        while (window < windows.size() && windows[window].end <= begin) ++window;
        std::size_t beyond = window;
        while (beyond < windows.size() && windows[beyond].begin < end) ++beyond;
        if (beyond > window)
            turner.add({end - begin, spikes.subspan(first, behind - first),
                        windows.subspan(window, beyond - window), begin});
        first = behind;
    }
    return out;
}

}  // namespace spikeweave::assess
