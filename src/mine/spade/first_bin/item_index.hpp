#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// The items that occur often enough, numbered in time order (by lag, then by unit), and the
/// windows written in these numbers.
class item_index {
public:
    using item_id = std::uint32_t;

    /// @param least_occ  items in fewer windows are left out
    item_index(const spade_windows& windows, std::uint32_t least_occ, const std::stop_token& stop);

    std::size_t size() const { return items_.size(); }
    /// Items below this number have lag 0.
    item_id first_bin_items() const { return first_bin_items_; }
    pattern_item item(item_id id) const { return items_[id]; }
    std::uint32_t unit(item_id id) const { return units_[id]; }
    std::uint32_t lag(item_id id) const { return lags_[id]; }

    std::size_t unit_count() const { return unit_count_; }
    std::uint32_t window_bins() const { return window_bins_; }
    std::size_t window_count() const { return starts_.size(); }
    std::uint32_t start(std::uint32_t window) const { return starts_[window]; }
    bool from_bins() const { return from_bins_; }
    /// The items of a window, ascending.
    std::span<const item_id> row(std::uint32_t window) const {
        return std::span{ids_}.subspan(offsets_[window], offsets_[window + 1] - offsets_[window]);
    }
    /// The items of all windows, one window after another; each begins at its offset.
    std::span<const item_id> all_rows() const { return ids_; }
    std::span<const std::size_t> row_offsets() const { return offsets_; }
    /// The first-bin items of a window: the units that fire in the bin at which it starts.
    std::span<const item_id> first_bin_of(std::uint32_t window) const {
        return row(window).first(first_bin_lengths_[window]);
    }
    /// The windows that hold a first-bin item, ascending.
    std::span<const std::uint32_t> windows_of(item_id first_bin_item) const {
        const std::size_t begin = column_offsets_[first_bin_item];
        return std::span{column_windows_}.subspan(begin,
                                                  column_offsets_[first_bin_item + 1] - begin);
    }

private:
    std::size_t unit_count_;
    std::uint32_t window_bins_;
    bool from_bins_;
    item_id first_bin_items_ = 0;
    std::vector<pattern_item> items_;
    std::vector<std::uint32_t> units_;
    std::vector<std::uint32_t> lags_;
    std::span<const std::uint32_t> starts_;
    std::vector<std::size_t> offsets_{0};
    std::vector<item_id> ids_;
    std::vector<std::uint32_t> first_bin_lengths_;
    std::vector<std::size_t> column_offsets_;
    std::vector<std::uint32_t> column_windows_;
};

}  // namespace spikeweave::spade
