#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/spade/bit_kernels.hpp"
#include "mine/spade/catalogue.hpp"
#include "mine/spade/nodes.hpp"
#include "mine/spade/preceding_spikes.hpp"

namespace spikeweave::spade {

/// A closed pattern as the search finds it.
struct found_pattern {
    std::span<const catalogue::item_id> ids;  ///< ascending: in time order
    std::uint32_t duration;                   ///< in bins
    std::span<const std::uint32_t> windows;   ///< windows that hold it, ascending
};

constexpr std::uint32_t unreachable = std::numeric_limits<std::uint32_t>::max();

/// A goal that visits only some of the children of a node, to estimate the size of the search:
///   bool enters(std::size_t children)  for each child; `leaves()` follows where it is true
template <class Goal>
concept visits_some = requires(Goal& goal) {
    { goal.enters(std::size_t{1}) } -> std::same_as<bool>;
    goal.leaves();
};

/// Depth-first search of the closed patterns whose first item is a given one, in the order of
/// `pattern_table`.
///
/// A node is a closed pattern; its windows are those that hold it. A child adds one later item and
/// all items that then are in every window (its closure). If the closure has an item that is
/// earlier than the one added and not in the node, the same child is found elsewhere, so it is left
/// out with everything below it. Thus every closed pattern is found exactly once, without
/// remembering those found before (Uno et al. 2004, LCM ver. 2; Lucchese et al. 2006, DCI_Closed).
/// Patterns without a spike in the first bin are never visited, because first-bin items come first
/// and only they are roots.
///
/// While a node has more than 64 windows it is a `list_node` or a `bit_node`, whichever counts
/// faster; below that, an item is one machine word.
///
/// `Goal` says what is wanted:
///   std::uint32_t least(size, units, duration, more_items, more_units)  the least count of any
///       wanted pattern that has more than `size` spikes, at most so many more items and units,
///       and at least this duration; `unreachable` if there is none
///   bool wants(size, units, count, duration)
///   bool may_want(size, units, count)       false only if no such pattern is wanted
///   void take(const found_pattern&)
///   void drop(const found_pattern&)         wanted, but part of one that begins earlier
template <class Goal>
class closed_search {
public:
    using item_id = catalogue::item_id;

    closed_search(const catalogue& items, const preceding_spikes& before, Goal& goal,
                  std::stop_token stop)
        : items_(items),
          goal_(goal),
          stop_(std::move(stop)),
          before_(before),
          root_(static_cast<item_id>(items.size())),
          rank_of_(items.size(), 0),
          counts_(items.size(), 0),
          places_(items.size(), 0),
          unit_words_(items.unit_count(), 0),
          marked_(items.unit_count(), 0) {}

    /// Visits the patterns that begin with `root` and continue with an item of rank [first, last),
    /// and the closure of `root` itself if its highest rank is in this range.
    void run(item_id root, std::uint32_t first, std::uint32_t last) {
        if (root_ != root) open_root(root);
        if (form_of_root_ == form::lists)
            visit(1, list_nodes_[1], least_of_root_, {first, last});
        else if (form_of_root_ == form::bits)
            visit(1, bit_nodes_[1], least_of_root_, {first, last});
    }
    /// The root of the last run, for which another run costs less; before the first run, the number
    /// of items.
    item_id root() const { return root_; }

    /// The number of patterns whose windows were counted, wanted or not, closed or not.
    std::uint64_t candidates() const { return candidates_tried_; }

private:
    enum class form : std::uint8_t { nothing, lists, bits };

    void open_root(item_id root) {
        root_ = root;
        form_of_root_ = form::nothing;
        const std::uint32_t least = goal_.least(0, 0, 0, unreachable, unreachable);
        least_of_root_ = least;
        rows_.clear();
        for (const std::uint32_t window : items_.windows_of(root)) {
            stop_at_times(rows_.size(), stop_);
            rows_.push_back({items_.row(window), 0, window, 0});
            for (const item_id id : items_.row(window)) ++counts_[id];
        }
        const auto count = static_cast<std::uint32_t>(rows_.size());
        excluded_.clear();
        ranked_.clear();
        bool elsewhere = false;
        double candidates = 0;
        for (item_id id = 0; id < items_.size(); ++id) {
            const std::uint32_t with_root = std::exchange(counts_[id], 0);
            if (with_root < least || id == root) continue;
            if (id < root) {
                excluded_.push_back(id);
                elsewhere = elsewhere || with_root == count;
            } else {
                ranked_.emplace_back(with_root, id);
                if (with_root < count) candidates += with_root;
            }
        }
        if (elsewhere) return;
        std::sort(ranked_.begin(), ranked_.end());
        ranks_.assign(1, {root, items_.unit(root), items_.lag(root)});
        kept_.clear();
        closure_.clear();
        for (const auto& [with_root, id] : ranked_) {
            const auto rank = static_cast<std::uint32_t>(ranks_.size());
            ranks_.push_back({id, items_.unit(id), items_.lag(id)});
            rank_of_[id] = rank;
            if (with_root == count)
                closure_.push_back(rank);
            else
                kept_.push_back(id);
        }
        level(1);
        path_[0] = {};
        extend(0, 0, closure_);
        const auto rank_of = [&](std::uint32_t id) { return rank_of_[id]; };
        if (bits_count_faster(candidates)) {
            form_of_root_ = form::bits;
            project(bit_nodes_[1], rank_of);
        } else {
            form_of_root_ = form::lists;
            project(list_nodes_[1], rank_of);
        }
    }

    struct pattern {
        std::vector<std::uint32_t> ranks{};  ///< ascending
        std::uint32_t units = 0;
        std::uint32_t duration = 0;
    };
    struct ranked_item {
        item_id id;
        std::uint32_t unit;
        std::uint32_t lag;
    };
    /// The children to visit, by the rank of the item that they add.
    struct range {
        std::uint32_t first = 0;
        std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
    };
    /// One of the windows of the current child, in the parent's form.
    struct row_view {
        std::span<const std::uint32_t> items;
        std::uint32_t at;  ///< the place of the item that the child adds
        std::uint32_t window;
        std::uint32_t number;  ///< number of the window within the parent
    };
    /// A node of few windows: its candidates and excluded items are ranges of `candidates_` and
    /// `excluded_words_`.
    struct word_node {
        std::uint64_t mask;
        std::size_t candidates, candidates_end;
        std::size_t excluded, excluded_end;
        std::uint32_t least;
    };

    // Makes room for nodes of this depth. The nodes above, which are in use, stay in place.
    void level(std::size_t depth) {
        path_.reach(depth);
        list_nodes_.reach(depth);
        bit_nodes_.reach(depth);
    }

    // path_[depth + 1] becomes path_[depth] with `added` and a closure.
    void extend(std::size_t depth, std::uint32_t added, std::span<const std::uint32_t> closure) {
        const pattern& from = path_[depth];
        pattern& to = path_[depth + 1];
        to.ranks.assign(from.ranks.begin(), from.ranks.end());
        to.units = from.units;
        to.duration = from.duration;
        const auto add = [&](std::uint32_t rank) {
            const auto [id, unit, lag] = ranks_[rank];
            bool known = false;
            for (const std::uint32_t other : to.ranks) known = known || ranks_[other].unit == unit;
            if (!known) ++to.units;
            to.duration = std::max(to.duration, lag);
            to.ranks.push_back(rank);
            for (std::size_t i = to.ranks.size() - 1; i > 0 && to.ranks[i - 1] > rank; --i)
                std::swap(to.ranks[i - 1], to.ranks[i]);
        };
        add(added);
        for (const std::uint32_t rank : closure) add(rank);
    }

    bool wanted(const pattern& p, std::uint32_t count) const {
        return goal_.wants(static_cast<std::uint32_t>(p.ranks.size()), p.units, count, p.duration);
    }

    // Whether neither the child nor anything below it can be wanted, even if all its units were
    // different. Most children end here.
    bool hopeless(const pattern& parent, std::size_t closure, std::size_t candidates,
                  std::uint32_t count) const {
        const auto added = static_cast<std::uint32_t>(closure + 1);
        const auto size = static_cast<std::uint32_t>(parent.ranks.size()) + added;
        const std::uint32_t units = parent.units + added;
        const auto more = static_cast<std::uint32_t>(candidates);
        return !goal_.may_want(size, units, count) &&
               (more == 0 || goal_.least(size, units, parent.duration, more, more) >= count);
    }

    void emit(const pattern& p, std::span<const std::uint32_t> windows) {
        const auto count = static_cast<std::uint32_t>(windows.size());
        if (!wanted(p, count)) return;
        in_time_order_.clear();
        for (const std::uint32_t rank : p.ranks) in_time_order_.push_back(ranks_[rank].id);
        std::sort(in_time_order_.begin(), in_time_order_.end());
        const found_pattern found{in_time_order_, p.duration, windows};
        if (before_.precede_all(windows, p.duration))
            goal_.drop(found);
        else
            goal_.take(found);
    }

    bool enters(std::size_t children) {
        if constexpr (visits_some<Goal>) return goal_.enters(children);
        return true;
    }
    void leaves() {
        if constexpr (visits_some<Goal>) goal_.leaves();
    }

    // ---- nodes of many windows ----

    template <class Node>
    void visit(std::size_t depth, const Node& node, std::uint32_t least, range children) {
        const std::uint32_t end_of_pattern = path_[depth].ranks.back();
        bool emitted = end_of_pattern < children.first;
        for (std::uint32_t k = node.first_candidate; k < node.size(); ++k) {
            const std::uint32_t rank = node.ranks[k];
            if (rank < children.first) continue;
            if (rank >= children.last) break;
            if (!emitted && rank > end_of_pattern) {
                emitted = true;
                emit(path_[depth], node.windows);
            }
            if (!enters(node.size() - node.first_candidate)) continue;
            ++candidates_tried_;
            throw_if_stopped(stop_);
            child(depth, node, k, least);
            leaves();
        }
        if (!emitted && end_of_pattern < children.last) emit(path_[depth], node.windows);
    }

    template <class Node>
    void child(std::size_t depth, const Node& from, std::uint32_t added, std::uint32_t least) {
        level(depth + 1);
        const std::uint32_t count = select(from, added);
        find(from, added + 1, from.size(), least);
        closure_.clear();
        kept_.clear();
        double candidates = 0;
        for (std::size_t i = 0; i < found_.size; ++i) {
            if (found_.counts[i] == count) {
                closure_.push_back(from.ranks[found_.numbers[i]]);
            } else {
                kept_.push_back(found_.numbers[i]);
                candidates += found_.counts[i];
            }
        }
        if (hopeless(path_[depth], closure_.size(), kept_.size(), count)) return;
        extend(depth, from.ranks[added], closure_);
        const pattern& p = path_[depth + 1];
        const std::uint32_t needed = least_of_kept(p, from);
        if (kept_.empty() || needed >= count) {
            if (wanted(p, count) && !met_elsewhere(from, added, count))
                emit(p, windows_of_child(from));
            return;
        }
        if (needed > least) keep_at_least(count, needed);
        least = std::max(least, needed);
        if (count <= 64) {
            child_in_words(depth, from, added, least);
        } else if (!met_elsewhere(from, added, least)) {
            if constexpr (std::is_same_v<Node, list_node>) {
                if (!bits_count_faster(candidates)) {
                    project(list_nodes_[depth + 1], rank_in(from));
                    visit(depth + 1, list_nodes_[depth + 1], least, {});
                    return;
                }
            }
            project_bits(bit_nodes_[depth + 1], from);
            visit(depth + 1, bit_nodes_[depth + 1], least, {});
        }
    }

    // Drops candidates that are in fewer windows.
    void keep_at_least(std::uint32_t count, std::uint32_t needed) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < found_.size; ++i)
            if (found_.counts[i] >= needed && found_.counts[i] < count)
                kept_[kept++] = found_.numbers[i];
        kept_.resize(kept);
    }

    // The least count of what is wanted below a pattern whose candidates are kept_.
    std::uint32_t least_of_kept(const pattern& p, const node_items& from) {
        for (const std::uint32_t rank : p.ranks) marked_[ranks_[rank].unit] = 1;
        touched_.clear();
        for (const std::uint32_t k : kept_) {
            const std::uint32_t unit = ranks_[from.ranks[k]].unit;
            if (std::exchange(marked_[unit], 1) == 0) touched_.push_back(unit);
        }
        for (const std::uint32_t unit : touched_) marked_[unit] = 0;
        for (const std::uint32_t rank : p.ranks) marked_[ranks_[rank].unit] = 0;
        return goal_.least(static_cast<std::uint32_t>(p.ranks.size()), p.units, p.duration,
                           static_cast<std::uint32_t>(kept_.size()),
                           static_cast<std::uint32_t>(touched_.size()));
    }

    // Whether an item before `added` is in every window. Records in excluded_ those that are in at
    // least this many windows.
    template <class Node>
    bool met_elsewhere(const Node& from, std::uint32_t added, std::uint32_t least) {
        find(from, 0, added, least);
        excluded_.assign(found_.numbers.begin(),
                         found_.numbers.begin() + static_cast<std::ptrdiff_t>(found_.size));
        const auto end = found_.counts.begin() + static_cast<std::ptrdiff_t>(found_.size);
        return std::find(found_.counts.begin(), end, selected_) != end;
    }

    // The cost of counting all pairs of candidates in either form. `sum` is the number of items in
    // all windows.
    bool bits_count_faster(double sum) const {
        const auto items = static_cast<double>(kept_.size());
        const auto windows = static_cast<double>(rows_.size());
        const double by_lists = sum * sum / windows + items * items;
        const double by_bits = items * items * std::ceil(windows / 64) * kernels_.find_cost;
        return by_bits < by_lists;
    }

    // ---- the windows of a child, and counting in them ----

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

    // The items [first, last) that are in at least this many of the selected windows; all of them
    // are before the selected item, or all after it.
    void find(const list_node& from, std::uint32_t first, std::uint32_t last, std::uint32_t least) {
        found_.reserve(from.size());
        found_.size = 0;
        for (const row_view& row : rows_) {
            const auto part =
                first == 0 ? row.items.first(row.at) : row.items.subspan(row.at + std::size_t{1});
            for (const std::uint32_t k : part) ++counts_[k];
        }
        for (std::uint32_t k = first; k < last; ++k)
            if (counts_[k] >= least) found_.push(k, counts_[k]);
        std::fill(counts_.begin() + first, counts_.begin() + last, 0);
    }

    void find(const bit_node& from, std::uint32_t first, std::uint32_t last, std::uint32_t least) {
        found_.reserve(from.size());
        found_.size = kernels_.find(from.words.data(), from.planes, mask_.data(), first, last,
                                    least, found_.numbers.data(), found_.counts.data());
    }

    std::span<const std::uint32_t> windows_of_child(const list_node&) {
        windows_.clear();
        for (const row_view& row : rows_) windows_.push_back(row.window);
        return windows_;
    }

    std::span<const std::uint32_t> windows_of_child(const bit_node& from) {
        windows_.clear();
        append_windows(from, windows_);
        return windows_;
    }

    void append_windows(const bit_node& from, std::vector<std::uint32_t>& to) const {
        for (std::size_t p = 0; p < from.planes; ++p)
            for (std::uint64_t rest = mask_[p]; rest != 0; rest &= rest - 1)
                to.push_back(
                    from.windows[p * 64 + static_cast<std::size_t>(std::countr_zero(rest))]);
    }

    static auto rank_in(const node_items& from) {
        return [&from](std::uint32_t number) { return from.ranks[number]; };
    }

    // ---- cutting a node down to the items and windows of a child ----

    template <class RankOf>
    void name_items(node_items& to, RankOf&& rank_of) const {
        to.ranks.clear();
        to.windows.clear();
        to.first_candidate = static_cast<std::uint32_t>(excluded_.size());
        for (const auto* numbers : {&excluded_, &kept_})
            for (const std::uint32_t k : *numbers) to.ranks.push_back(rank_of(k));
    }

    // Calls take(row, number) for each item of rows_ that stays, by row.
    template <class Take>
    void for_each_kept_item(Take&& take) {
        std::uint32_t place = 0;
        for (const auto* numbers : {&excluded_, &kept_})
            for (const std::uint32_t k : *numbers) places_[k] = ++place;
        for (std::uint32_t row = 0; row < rows_.size(); ++row) {
            stop_at_times(row, stop_);
            for (const std::uint32_t k : rows_[row].items)
                if (places_[k] != 0) take(row, places_[k] - 1);
        }
        for (const auto* numbers : {&excluded_, &kept_})
            for (const std::uint32_t k : *numbers) places_[k] = 0;
    }

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

    void project_bits(bit_node& to, const list_node& from) { project(to, rank_in(from)); }

    void project_bits(bit_node& to, const bit_node& from) {
        name_items(to, rank_in(from));
        append_windows(from, to.windows);
        to.shape(to.ranks.size(), selected_);
        std::size_t number = 0;
        for (const auto* numbers : {&excluded_, &kept_})
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

    // Calls take(bits, how many) with the bits of an item at the selected windows.
    template <class Take>
    void for_each_gathered(const bit_node& from, std::uint32_t number, Take&& take) const {
        for (std::size_t p = 0; p < from.planes; ++p) {
            if (mask_[p] == 0) continue;
            take(kernels_.gather_bits(from.word(number, p), mask_[p]), mask_widths_[p]);
        }
    }

    // ---- nodes of at most 64 windows ----

    template <class Node>
    void child_in_words(std::size_t depth, const Node& from, std::uint32_t added,
                        std::uint32_t least) {
        if (candidates_.ranks.size() < kept_.size()) candidates_.ranks.resize(kept_.size());
        for (std::size_t i = 0; i < kept_.size(); ++i) candidates_.ranks[i] = from.ranks[kept_[i]];
        words_of(from, kept_, candidates_.words);
        word_node node{~std::uint64_t{0} >> (64 - selected_), 0, kept_.size(), 0, 0, least};
        const pattern& p = path_[depth + 1];
        const bool open = cut(p, node);
        if (!open && !wanted(p, selected_)) return;
        if (met_elsewhere(from, added, open ? node.least : selected_)) return;
        const std::span<const std::uint32_t> windows = windows_of_child(from);
        if (!open) {
            emit(p, windows);
            return;
        }
        words_of(from, excluded_, excluded_words_);
        node.excluded_end = excluded_.size();
        expand_words(depth + 1, node);
    }

    // For each of these items, the selected windows that hold it.
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

    // Raises the least count of a node by how many units each of its windows can still give;
    // false if nothing below it is wanted. Drops candidates below the new count.
    bool cut(const pattern& p, word_node& node) {
        const std::size_t begin = node.candidates;
        std::size_t end = node.candidates_end;
        if (begin == end) return false;
        touched_.clear();
        for (const std::uint32_t rank : p.ranks) marked_[ranks_[rank].unit] = 1;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t unit = ranks_[candidates_.ranks[i]].unit;
            if (marked_[unit] != 0) continue;
            if (unit_words_[unit] == 0) touched_.push_back(unit);
            unit_words_[unit] |= candidates_.words[i];
        }
        for (const std::uint32_t rank : p.ranks) marked_[ranks_[rank].unit] = 0;
        std::array<std::uint64_t, levels + 1> at_least{};  // windows with that many more units
        at_least[0] = node.mask;
        for (const std::uint32_t unit : touched_) {
            for (std::size_t l = levels; l > 0; --l)
                at_least[l] |= at_least[l - 1] & unit_words_[unit];
            unit_words_[unit] = 0;
        }
        auto more = static_cast<std::uint32_t>(touched_.size());
        for (std::uint32_t l = 1; l <= levels; ++l)
            if (static_cast<std::uint32_t>(bit_count(at_least[l])) < node.least) {
                more = std::min(more, l - 1);
                break;
            }
        const std::uint32_t least =
            goal_.least(static_cast<std::uint32_t>(p.ranks.size()), p.units, p.duration,
                        static_cast<std::uint32_t>(end - begin), more);
        if (least == unreachable) return false;
        if (least > node.least) {
            std::size_t kept = begin;
            for (std::size_t i = begin; i < end; ++i) {
                if (static_cast<std::uint32_t>(bit_count(candidates_.words[i])) < least) continue;
                candidates_.words[kept] = candidates_.words[i];
                candidates_.ranks[kept++] = candidates_.ranks[i];
            }
            node.candidates_end = kept;
            node.least = least;
        }
        return node.candidates_end > begin;
    }

    void expand_words(std::size_t depth, const word_node& node) {
        const std::uint32_t end_of_pattern = path_[depth].ranks.back();
        bool emitted = false;
        const auto emit_now = [&] {
            emitted = true;
            windows_of_words_.clear();
            for (std::uint64_t rest = node.mask; rest != 0; rest &= rest - 1)
                windows_of_words_.push_back(
                    windows_[static_cast<std::size_t>(std::countr_zero(rest))]);
            emit(path_[depth], windows_of_words_);
        };
        for (std::size_t i = node.candidates; i < node.candidates_end; ++i) {
            if (!emitted && candidates_.ranks[i] > end_of_pattern) emit_now();
            if (!enters(node.candidates_end - node.candidates)) continue;
            child_of_words(depth, node, i);
            leaves();
        }
        if (!emitted) emit_now();
    }

    void child_of_words(std::size_t depth, const word_node& node, std::size_t i) {
        if (++candidates_tried_ % 4096 == 0) throw_if_stopped(stop_);
        level(depth + 1);
        const std::uint64_t mask = candidates_.words[i];
        const auto count = static_cast<std::uint32_t>(bit_count(mask));
        const std::size_t rest = node.candidates_end - i - 1;
        const std::size_t top = node.candidates_end;
        if (candidates_.words.size() < top + rest + 8) candidates_.words.resize(top + rest + 8);
        if (candidates_.ranks.size() < top + rest + 8) candidates_.ranks.resize(top + rest + 8);
        if (full_.size() < rest + 8) full_.resize(rest + 8);
        const narrowed less =
            kernels_.narrow(candidates_.words.data() + i + 1, candidates_.ranks.data() + i + 1,
                            rest, mask, count, node.least, candidates_.words.data() + top,
                            candidates_.ranks.data() + top, full_.data());
        if (hopeless(path_[depth], less.full, less.kept, count)) return;
        extend(depth, candidates_.ranks[i], std::span{full_}.first(less.full));
        const pattern& p = path_[depth + 1];
        word_node child{mask, top, top + less.kept, 0, 0, node.least};
        const bool open = cut(p, child);
        if (!open && !wanted(p, count)) return;
        if (kernels_.any_covers(excluded_words_.data() + node.excluded,
                                node.excluded_end - node.excluded, mask) ||
            kernels_.any_covers(candidates_.words.data() + node.candidates, i - node.candidates,
                                mask))
            return;
        child.excluded = child.excluded_end = node.excluded_end;
        if (open) {
            const std::size_t most = (node.excluded_end - node.excluded) + (i - node.candidates);
            if (excluded_words_.size() < child.excluded + most)
                excluded_words_.resize(child.excluded + most);
            exclude(child, std::span{excluded_words_}.subspan(node.excluded,
                                                              node.excluded_end - node.excluded));
            exclude(child,
                    std::span{candidates_.words}.subspan(node.candidates, i - node.candidates));
        } else {
            child.candidates_end = child.candidates;
        }
        expand_words(depth + 1, child);
    }

    // Records those of them that can be in all windows of some node below the child.
    void exclude(word_node& child, std::span<const std::uint64_t> words) {
        for (const std::uint64_t word : words) {
            excluded_words_[child.excluded_end] = word & child.mask;
            if (static_cast<std::uint32_t>(bit_count(word & child.mask)) >= child.least)
                ++child.excluded_end;
        }
    }

    static constexpr std::uint32_t levels = 8;

    const catalogue& items_;
    Goal& goal_;
    std::stop_token stop_;
    const preceding_spikes& before_;
    const bit_kernels& kernels_ = best_bit_kernels();
    item_id root_;
    form form_of_root_ = form::nothing;
    std::uint32_t least_of_root_ = 0;
    // The items that a pattern of the current root can have, by rank.
    std::vector<ranked_item> ranks_;
    std::vector<std::uint32_t> rank_of_;  // by id
    std::vector<std::pair<std::uint32_t, item_id>> ranked_;
    std::vector<item_id> in_time_order_;
    by_depth<pattern> path_;
    by_depth<list_node> list_nodes_;
    by_depth<bit_node> bit_nodes_;
    // Indexed by the number of an item within the current node; zero between uses.
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> places_;
    // Indexed by unit; zero between uses.
    std::vector<std::uint64_t> unit_words_;
    std::vector<char> marked_;
    std::vector<std::uint32_t> touched_;
    // The windows of the current child: one or the other, depending on the form of its parent.
    std::vector<row_view> rows_;
    std::vector<std::uint64_t> mask_;
    std::vector<std::uint32_t> mask_widths_;
    std::uint32_t selected_ = 0;
    counted_items found_;
    std::vector<std::uint32_t> closure_;
    std::vector<std::uint32_t> kept_;
    std::vector<std::uint32_t> excluded_;
    std::vector<std::size_t> next_;
    // Nodes of at most 64 windows.
    struct {
        std::vector<std::uint64_t> words{};
        std::vector<std::uint32_t> ranks{};
    } candidates_;
    std::vector<std::uint64_t> excluded_words_;
    std::vector<std::uint64_t> row_bits_;  // by number of a window in the parent; zero between uses
    std::vector<std::uint32_t> full_;
    std::vector<std::uint32_t> windows_;  // of the first node whose items are words
    std::vector<std::uint32_t> windows_of_words_;
    std::uint64_t candidates_tried_ = 0;
};

}  // namespace spikeweave::spade
