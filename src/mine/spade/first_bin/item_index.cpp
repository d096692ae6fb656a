#include "mine/spade/first_bin/item_index.hpp"

#include <algorithm>
#include <limits>

#include "core/stop.hpp"

namespace spikeweave::spade {
namespace {

constexpr item_index::item_id absent = std::numeric_limits<item_index::item_id>::max();

}  // namespace

item_index::item_index(const spade_windows& windows, std::uint32_t least_occ,
                       const std::stop_token& stop)
    : unit_count_(windows.unit_count()),
      window_bins_(windows.window_bins()),
      from_bins_(windows.from_bins()),
      starts_(windows.starts()) {
    std::vector<std::uint32_t> counts(unit_count_ * window_bins_, 0);
    for (std::size_t w = 0; w < windows.size(); ++w) {
        core::stop_at_times(w, stop);
        for (const pattern_item item : windows.items(w)) ++counts[item];
    }

    std::vector<item_id> ids(counts.size(), absent);
    for (std::uint32_t lag = 0; lag < window_bins_; ++lag) {
        for (std::uint32_t unit = 0; unit < unit_count_; ++unit) {
            const pattern_item item = unit * window_bins_ + lag;
            if (counts[item] < least_occ) continue;
            ids[item] = static_cast<item_id>(items_.size());
            items_.push_back(item);
            units_.push_back(unit);
            lags_.push_back(lag);
        }
        if (lag == 0) first_bin_items_ = static_cast<item_id>(items_.size());
    }

    ids_.reserve(windows.item_count());
    offsets_.reserve(windows.size() + 1);
    first_bin_lengths_.reserve(windows.size());
    column_offsets_.assign(first_bin_items_ + std::size_t{1}, 0);
    for (std::size_t w = 0; w < windows.size(); ++w) {
        core::stop_at_times(w, stop);
        const std::size_t begin = ids_.size();
        for (const pattern_item item : windows.items(w))
            if (ids[item] != absent) ids_.push_back(ids[item]);
        const auto row = ids_.begin() + static_cast<std::ptrdiff_t>(begin);
        std::sort(row, ids_.end());
        offsets_.push_back(ids_.size());
        const auto firsts = std::lower_bound(row, ids_.end(), first_bin_items_) - row;
        first_bin_lengths_.push_back(static_cast<std::uint32_t>(firsts));
        for (const item_id id : first_bin_of(static_cast<std::uint32_t>(w)))
            ++column_offsets_[id + 1];
    }
    for (std::size_t id = 0; id < first_bin_items_; ++id)
        column_offsets_[id + 1] += column_offsets_[id];
    column_windows_.resize(column_offsets_.back());
    std::vector<std::size_t> next(column_offsets_.begin(), column_offsets_.end() - 1);
    for (std::uint32_t w = 0; w < windows.size(); ++w)
        for (const item_id id : first_bin_of(w)) column_windows_[next[id]++] = w;
}

}  // namespace spikeweave::spade
