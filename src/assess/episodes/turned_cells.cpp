#include "assess/episodes/turned_cells.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/spike_walks.hpp"

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
        if (what.windows.size() == 1) return add_one_window(what);
        load(what);
        out_.as_recorded += starts_after(0, what.length);
        find_turns(what.length);
        turns_with_.assign(positions_.size() + 1, 0);
        for (std::size_t i = 0; i < turns_.size(); ++i) {
            const std::int64_t next = i + 1 < turns_.size() ? turns_[i + 1] : what.length;
            turns_with_[starts_after(turns_[i], what.length)] += next - turns_[i];
        }
        probabilities_.clear();
        while (turns_with_.back() == 0) turns_with_.pop_back();
        for (std::size_t starts = 1; starts < turns_with_.size(); ++starts)
            probabilities_.push_back(static_cast<double>(turns_with_[starts]) /
                                     static_cast<double>(what.length));
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

    // There is a start if any spike is in the window. The rotations that bring a spike into it
    // follow those that bring the next one there, unless the spikes are closer than it is wide.
    void add_one_window(const cell& what) {
        const start_window& window = what.windows.front();
        const std::int64_t width =
            std::min(window.end, what.begin + what.length) - std::max(window.begin, what.begin);
        std::int64_t covered = 0;
        bool is_in = false;
        std::int64_t before = what.spikes.back() - what.length;
        for (const std::int64_t spike : what.spikes) {
            covered += std::min(width, spike - before);
            is_in |= window.begin <= spike && spike < window.end;
            before = spike;
        }
        out_.as_recorded += is_in ? 1 : 0;
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
            // The rotation that moves a spike by so much, which is at most the length on each side.
            const auto add_move = [&](std::int64_t by) {
                if (by < 0) by += length;
                turns_.push_back(by < length ? by : 0);
            };
            for (const std::int64_t x : positions_) {
                add_move(length - x);
                for (const start_window& window : windows_) {
                    add_move(window.begin - x);
                    add_move(window.end - x);
                    if (const std::int64_t free = window.until + gap_; free < length)
                        add_move(free - x);
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
    std::vector<std::int64_t> turns_with_;  // their number by the number of starts
    std::vector<double> probabilities_;
};

}  // namespace

turned_counts turned_starts(std::span<const std::int64_t> spikes,
                            std::span<const start_window> windows, const cell_grid& grid,
                            std::int64_t gap) {
    turned_counts out;
    cell_turner turner(gap, out);
    const core::divisor width(grid.width);
    std::size_t window = 0;
    auto span = grid.observed.begin();
    for (std::size_t first = 0; first < spikes.size() && window < windows.size();) {
        while (span->end.count() < spikes[first]) ++span;
        const std::int64_t origin = span->begin.count();
        const std::int64_t begin = origin + width.quotient(spikes[first] - origin) * grid.width;
        const std::int64_t end = std::min(begin + grid.width, span->end.count() + 1);
        std::size_t behind = first + 1;
        while (behind < spikes.size() && spikes[behind] < end) ++behind;
        window = core::skip_while(window, windows.size(),
                                  [&](std::size_t w) { return windows[w].end <= begin; });
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
