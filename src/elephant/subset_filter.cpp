// Elephant's filter for moving windows, for patterns without their windows.

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/elephant/mining.hpp"

namespace spikeweave {
namespace {

// Patterns as sets of keys, and the patterns that hold each key.
struct keyed_patterns {
    std::vector<std::vector<std::uint64_t>> keys;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> holders;
};

void add_pattern(keyed_patterns& to, std::size_t pattern, std::span<const std::uint32_t> items,
                 std::uint32_t count, std::uint32_t window_bins) {
    std::uint32_t last = 0;
    for (const std::uint32_t item : items) last = std::max(last, item % window_bins);
    for (const std::uint32_t item : items) {
        const std::uint32_t from_last = item + last - 2 * (item % window_bins);
        const std::uint64_t key = std::uint64_t{count} << 32U | from_last;
        to.keys[pattern].push_back(key);
        to.holders[key].push_back(pattern);
    }
}

bool is_held_by_no_other(keyed_patterns& all, std::size_t pattern) {
    const std::vector<std::uint64_t>& keys = all.keys[pattern];
    if (keys.empty()) return false;
    std::vector<std::size_t> others = all.holders[keys.front()];
    for (const std::uint64_t key : keys) {
        std::vector<std::size_t> both;
        std::ranges::set_intersection(others, all.holders[key], std::back_inserter(both));
        others = std::move(both);
    }
    return others.size() == 1;
}

}  // namespace

std::vector<std::uint64_t> drop_window_subsets(std::span<const std::uint64_t> offsets,
                                               std::span<const std::uint32_t> items,
                                               std::span<const std::uint32_t> counts,
                                               std::uint32_t window_bins, const execution& run) {
    if (window_bins == 0) throw invalid_argument("winlen: expected an integer >= 1, found 0");
    keyed_patterns keyed;
    keyed.keys.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        core::throw_if_stopped(run.stop);
        add_pattern(keyed, i, items.subspan(offsets[i], offsets[i + 1] - offsets[i]), counts[i],
                    window_bins);
    }
    std::vector<std::uint64_t> kept;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        core::throw_if_stopped(run.stop);
        if (is_held_by_no_other(keyed, i)) kept.push_back(i);
    }
    return kept;
}

}  // namespace spikeweave
