#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// The windows in terms of ranks. Items in at least `least` windows have a rank, 0 for the most
/// frequent; among equally frequent items the smaller one is first.
class ranked_windows {
public:
    ranked_windows(const spade_windows& windows, std::uint32_t least);

    /// The number of ranks.
    std::size_t size() const { return items_.size(); }
    pattern_item item(std::uint32_t rank) const { return items_[rank]; }
    /// The ranks in a window, ascending.
    std::span<const std::uint32_t> ranks_in(std::size_t window) const {
        return std::span{ranks_}.subspan(rank_offsets_[window],
                                         rank_offsets_[window + 1] - rank_offsets_[window]);
    }
    /// The windows with a rank, ascending.
    std::span<const std::uint32_t> windows_with(std::uint32_t rank) const {
        return std::span{holders_}.subspan(holder_offsets_[rank],
                                           holder_offsets_[rank + 1] - holder_offsets_[rank]);
    }
    std::size_t window_count() const { return rank_offsets_.size() - 1; }

private:
    std::vector<pattern_item> items_;
    std::vector<std::size_t> rank_offsets_{0};
    std::vector<std::uint32_t> ranks_;
    std::vector<std::size_t> holder_offsets_{0};
    std::vector<std::uint32_t> holders_;
};

}  // namespace spikeweave::spade
