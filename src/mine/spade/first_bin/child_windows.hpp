#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/spade/first_bin/bit_kernels.hpp"
#include "mine/spade/first_bin/item_index.hpp"
#include "mine/spade/first_bin/nodes.hpp"

namespace spikeweave::spade {

/// The windows of a node that hold one of its items, which are the windows of a child: counts items
/// in them, and cuts the node down to the items and windows of the child. The windows are those
/// selected last, in the form of the node, a `list_node` or a `bit_node`.
class child_windows {
public:
    child_windows(const item_index& items, std::stop_token stop)
        : items_(items),
          stop_(std::move(stop)),
          counts_(items.size(), 0),
          places_(items.size(), 0) {}

    /// Items of the node by number: those counted last, those that must no longer be added, and
    /// those that may be.
    counted_items found;
    std::vector<std::uint32_t> excluded;
    std::vector<std::uint32_t> kept;

    /// The number of selected windows.
    std::uint32_t count() const { return selected_; }

    /// Selects the windows of the first item of patterns, and counts all items in them.
    std::uint32_t select_root(item_index::item_id root) {
        rows_.clear();
        for (const std::uint32_t window : items_.windows_of(root)) {
            core::stop_at_times(rows_.size(), stop_);
            rows_.push_back({items_.row(window), 0, window, 0});
            for (const item_index::item_id id : items_.row(window)) ++counts_[id];
        }
        return selected_ = static_cast<std::uint32_t>(rows_.size());
    }
    /// The number of the root's windows that hold an item. May be called once for every item.
    std::uint32_t take_count(item_index::item_id id) { return std::exchange(counts_[id], 0); }

    /// The rank of an item of the node by its number.
    static auto rank_in(const node_items& from) {
        return [&from](std::uint32_t number) { return from.ranks[number]; };
    }

    /// Selects the windows that hold an item of a node, and returns their number.
    std::uint32_t select(const list_node& from, std::uint32_t added) {
        rows_.clear();
        for (const auto& [row, at] : from.column(added))
            rows_.push_back({from.row(row), at, from.windows[row], row});
        return selected_ = static_cast<std::uint32_t>(rows_.size());
    }

    std::uint32_t select(const bit_node& from, std::uint32_t added) {
        mask_.resize(from.planes);
        mask_widths_.resize(from.planes);
        selected_ = 0;
        for (std::size_t p = 0; p < from.planes; ++p) {
            mask_[p] = from.word(added, p);
            mask_widths_[p] = static_cast<std::uint32_t>(bit_count(mask_[p]));
            selected_ += mask_widths_[p];
        }
        return selected_;
    }

    /// Finds the items [first, last) that are in at least this many of the windows; all of them are
    /// before the selected item, or all after it.
    void find(const list_node& from, std::uint32_t first, std::uint32_t last, std::uint32_t least) {
        found.reserve(from.size());
        found.size = 0;
        for (const row_view& row : rows_) {
            const auto part =
                first == 0 ? row.items.first(row.at) : row.items.subspan(row.at + std::size_t{1});
            for (const std::uint32_t k : part) ++counts_[k];
        }
        for (std::uint32_t k = first; k < last; ++k)
            if (counts_[k] >= least) found.push(k, counts_[k]);
        std::fill(counts_.begin() + first, counts_.begin() + last, 0);
    }

    void find(const bit_node& from, std::uint32_t first, std::uint32_t last, std::uint32_t least) {
        found.reserve(from.size());
        found.size = kernels_.find(from.words.data(), from.planes, mask_.data(), first, last, least,
                                   found.numbers.data(), found.counts.data());
    }

    /// Keeps those found that are in at least this many of the windows, but not in all.
    void keep_at_least(std::uint32_t needed) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < found.size; ++i)
            if (found.counts[i] >= needed && found.counts[i] < selected_)
                kept[size++] = found.numbers[i];
        kept.resize(size);
    }

    /// The windows by their numbers in the data. Valid until the next
    /// call.
    std::span<const std::uint32_t> windows_in(const list_node&) {
        windows_.clear();
        for (const row_view& row : rows_) windows_.push_back(row.window);
        return windows_;
    }

    std::span<const std::uint32_t> windows_in(const bit_node& from) {
        windows_.clear();
        append_windows(from, windows_);
        return windows_;
    }

    /// The result of the last call of `windows_in`.
    std::span<const std::uint32_t> windows() const { return windows_; }

    /// Makes the child's node of the excluded and the kept items and the selected windows, which
    /// are rows. `rank_of` returns the rank of an item's number.
    template <class RankOf>
    void project(list_node& to, RankOf&& rank_of) {
        name_items(to, rank_of);
        for (const row_view& row : rows_) to.windows.push_back(row.window);
        to.row_offsets.assign(rows_.size() + 1, 0);
        to.column_offsets.assign(to.ranks.size() + 1, 0);
        for_each_kept_item([&](std::uint32_t row, std::uint32_t number) {
            ++to.row_offsets[row + 1];
            ++to.column_offsets[number + 1];
        });
        std::partial_sum(to.row_offsets.begin(), to.row_offsets.end(), to.row_offsets.begin());
        std::partial_sum(to.column_offsets.begin(), to.column_offsets.end(),
                         to.column_offsets.begin());
        to.columns.resize(to.column_offsets.back());
        to.rows.resize(to.columns.size());
        next_.assign(to.column_offsets.begin(), to.column_offsets.end() - 1);
        for_each_kept_item([&](std::uint32_t row, std::uint32_t number) {
            to.columns[next_[number]++].row = row;
        });
        // From column to column, which puts each row into the order of numbers.
        next_.assign(to.row_offsets.begin(), to.row_offsets.end() - 1);
        for (std::uint32_t number = 0; number < to.size(); ++number)
            for (std::size_t i = to.column_offsets[number]; i < to.column_offsets[number + 1];
                 ++i) {
                auto& [row, at] = to.columns[i];
                at = static_cast<std::uint32_t>(next_[row] - to.row_offsets[row]);
                to.rows[next_[row]++] = number;
            }
    }

    template <class RankOf>
    void project(bit_node& to, RankOf&& rank_of) {
        name_items(to, rank_of);
        for (const row_view& row : rows_) to.windows.push_back(row.window);
        to.shape(to.ranks.size(), rows_.size());
        for_each_kept_item([&](std::uint32_t row, std::uint32_t number) {
            to.word(number, row / 64) |= std::uint64_t{1} << (row % 64);
        });
    }

    /// Does the same for a parent in either form.
    void project_bits(bit_node& to, const list_node& from) { project(to, rank_in(from)); }

    void project_bits(bit_node& to, const bit_node& from) {
        name_items(to, rank_in(from));
        append_windows(from, to.windows);
        to.shape(to.ranks.size(), selected_);
        std::size_t number = 0;
        for (const auto* numbers : {&excluded, &kept})
            for (const std::uint32_t k : *numbers) {
                std::size_t place = 0;
                for_each_gathered(from, k, [&](std::uint64_t bits, std::size_t width) {
                    to.word(number, place / 64) |= bits << (place % 64);
                    if (place % 64 + width > 64)
                        to.word(number, place / 64 + 1) |= bits >> (64 - place % 64);
                    place += width;
                });
                ++number;
            }
    }

    /// For each of these items, the selected windows that hold it; there are at most 64.
    void words_of(const list_node& from, std::span<const std::uint32_t> numbers,
                  std::vector<std::uint64_t>& words) {
        if (words.size() < numbers.size()) words.resize(numbers.size());
        if (row_bits_.size() < from.windows.size()) row_bits_.resize(from.windows.size(), 0);
        std::uint64_t bit = 1;
        for (const row_view& row : rows_) {
            row_bits_[row.number] = bit;
            bit <<= 1U;
        }
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            std::uint64_t word = 0;
            for (const auto& entry : from.column(numbers[i])) word |= row_bits_[entry.row];
            words[i] = word;
        }
        for (const row_view& row : rows_) row_bits_[row.number] = 0;
    }

    void words_of(const bit_node& from, std::span<const std::uint32_t> numbers,
                  std::vector<std::uint64_t>& words) {
        if (words.size() < numbers.size()) words.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            std::uint64_t word = 0;
            std::size_t place = 0;
            for_each_gathered(from, numbers[i], [&](std::uint64_t bits, std::size_t width) {
                word |= bits << place;
                place += width;
            });
            words[i] = word;
        }
    }

private:
    // A selected window, in the node's form.
    struct row_view {
        std::span<const std::uint32_t> items;
        std::uint32_t at;  // index of the selected item
        std::uint32_t window;
        std::uint32_t number;  // number of the window within the node
    };
    void append_windows(const bit_node& from, std::vector<std::uint32_t>& to) const {
        for (std::size_t p = 0; p < from.planes; ++p)
            for (std::uint64_t rest = mask_[p]; rest != 0; rest &= rest - 1)
                to.push_back(
                    from.windows[p * 64 + static_cast<std::size_t>(std::countr_zero(rest))]);
    }

    template <class RankOf>
    void name_items(node_items& to, RankOf&& rank_of) const {
        to.ranks.clear();
        to.windows.clear();
        to.first_candidate = static_cast<std::uint32_t>(excluded.size());
        for (const auto* numbers : {&excluded, &kept})
            for (const std::uint32_t k : *numbers) to.ranks.push_back(rank_of(k));
    }

    // Calls take(row, number) for each item of rows_ that stays, by row.
    template <class Take>
    void for_each_kept_item(Take&& take) {
        std::uint32_t place = 0;
        for (const auto* numbers : {&excluded, &kept})
            for (const std::uint32_t k : *numbers) places_[k] = ++place;
        for (std::uint32_t row = 0; row < rows_.size(); ++row) {
            core::stop_at_times(row, stop_);
            for (const std::uint32_t k : rows_[row].items)
                if (places_[k] != 0) take(row, places_[k] - 1);
        }
        for (const auto* numbers : {&excluded, &kept})
            for (const std::uint32_t k : *numbers) places_[k] = 0;
    }

    // Calls take(bits, how many) with the bits of an item at the selected windows.
    template <class Take>
    void for_each_gathered(const bit_node& from, std::uint32_t number, Take&& take) const {
        for (std::size_t p = 0; p < from.planes; ++p) {
            if (mask_[p] == 0) continue;
            take(kernels_.gather_bits(from.word(number, p), mask_[p]), mask_widths_[p]);
        }
    }

    const item_index& items_;
    std::stop_token stop_;
    const bit_kernels& kernels_ = best_bit_kernels();
    // Indexed by the number of an item within the current node; zero between uses.
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> places_;
    // The selected windows: one or the other, depending on the form of the node.
    std::vector<row_view> rows_;
    std::vector<std::uint64_t> mask_;
    std::vector<std::uint32_t> mask_widths_;
    std::uint32_t selected_ = 0;
    std::vector<std::size_t> next_;
    std::vector<std::uint64_t> row_bits_;  // by number of a window in the parent; zero between uses
    std::vector<std::uint32_t> windows_;
};

}  // namespace spikeweave::spade
