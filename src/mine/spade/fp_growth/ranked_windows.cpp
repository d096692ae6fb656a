#include "mine/spade/fp_growth/ranked_windows.hpp"

#include <algorithm>
#include <limits>

namespace spikeweave::spade {

ranked_windows::ranked_windows(const spade_windows& windows, std::uint32_t least) {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> supports(windows.unit_count() * windows.window_bins(), 0);
    for (std::size_t w = 0; w < windows.size(); ++w)
        for (const pattern_item item : windows.items(w)) ++supports[item];

    for (pattern_item item = 0; item < supports.size(); ++item)
        if (supports[item] >= std::max(least, 1U)) items_.push_back(item);
    std::stable_sort(items_.begin(), items_.end(),
                     [&](pattern_item a, pattern_item b) { return supports[a] > supports[b]; });
    std::vector<std::uint32_t> rank_of(supports.size(), none);
    holder_offsets_.reserve(size() + 1);
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        rank_of[items_[rank]] = rank;
        holder_offsets_.push_back(holder_offsets_.back() + supports[items_[rank]]);
    }

    ranks_.reserve(holder_offsets_.back());
    rank_offsets_.reserve(windows.size() + 1);
    holders_.resize(holder_offsets_.back());
    std::vector<std::size_t> next(holder_offsets_.begin(), holder_offsets_.end() - 1);
    for (std::size_t w = 0; w < windows.size(); ++w) {
        for (const pattern_item item : windows.items(w)) {
            const std::uint32_t rank = rank_of[item];
            if (rank == none) continue;
            ranks_.push_back(rank);
            holders_[next[rank]++] = static_cast<std::uint32_t>(w);
        }
        std::sort(ranks_.begin() + static_cast<std::ptrdiff_t>(rank_offsets_.back()), ranks_.end());
        rank_offsets_.push_back(ranks_.size());
    }
}

}  // namespace spikeweave::spade
