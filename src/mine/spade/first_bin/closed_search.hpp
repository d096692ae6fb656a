#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/spade/first_bin/bit_kernels.hpp"
#include "mine/spade/first_bin/child_windows.hpp"
#include "mine/spade/first_bin/item_index.hpp"
#include "mine/spade/first_bin/nodes.hpp"
#include "mine/spade/first_bin/preceding_spikes.hpp"
#include "mine/spade/first_bin/search_goal.hpp"

namespace spikeweave::spade {

/// Depth-first search of the closed patterns whose first item is a given one, in the order of
/// `pattern_table`.
///
/// A node is a closed pattern; its windows are those that hold it. A child adds one later item and
/// all items that then are in every window (its closure). If the closure has an item that is
/// earlier than the one added and not in the node, the same child is found elsewhere, so it is left
/// out with everything below it. Thus every closed pattern is found exactly once, without
/// remembering those found before (Uno et al. 2004, LCM ver. 2; Lucchese et al. 2006, DCI_Closed).
/// Patterns without a spike in the first bin are never visited, because first-bin items are first
/// and only they are roots.
///
/// While a node has more than 64 windows it is a `list_node` or a `bit_node`, whichever counts
/// faster; below that, an item is one machine word.
///
/// `Goal` defines the wanted patterns (search_goal.hpp).
template <class Goal>
class closed_search {
public:
    using item_id = item_index::item_id;

    closed_search(const item_index& items, const preceding_spikes& before, Goal& goal,
                  std::stop_token stop)
        : items_(items),
          goal_(goal),
          stop_(std::move(stop)),
          before_(before),
          root_(static_cast<item_id>(items.size())),
          rank_of_(items.size(), 0),
          unit_words_(items.unit_count(), 0),
          marked_(items.unit_count(), 0),
          child_(items, stop_) {}

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
        const std::uint32_t count = child_.select_root(root);
        child_.excluded.clear();
        ranked_.clear();
        bool elsewhere = false;
        double candidates = 0;
        for (item_id id = 0; id < items_.size(); ++id) {
            const std::uint32_t with_root = child_.take_count(id);
            if (with_root < least || id == root) continue;
            if (id < root) {
                child_.excluded.push_back(id);
                elsewhere = elsewhere || with_root == count;
            } else {
                ranked_.emplace_back(with_root, id);
                if (with_root < count) candidates += with_root;
            }
        }
        if (elsewhere) return;
        std::sort(ranked_.begin(), ranked_.end());
        ranks_.assign(1, {root, items_.unit(root), items_.lag(root)});
        child_.kept.clear();
        closure_.clear();
        for (const auto& [with_root, id] : ranked_) {
            const auto rank = static_cast<std::uint32_t>(ranks_.size());
            ranks_.push_back({id, items_.unit(id), items_.lag(id)});
            rank_of_[id] = rank;
            if (with_root == count)
                closure_.push_back(rank);
            else
                child_.kept.push_back(id);
        }
        level(1);
        path_[0] = {};
        extend(0, 0, closure_);
        const auto rank_of = [&](std::uint32_t id) { return rank_of_[id]; };
        if (bits_count_faster(candidates)) {
            form_of_root_ = form::bits;
            child_.project(bit_nodes_[1], rank_of);
        } else {
            form_of_root_ = form::lists;
            child_.project(list_nodes_[1], rank_of);
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
            core::throw_if_stopped(stop_);
            child(depth, node, k, least);
            leaves();
        }
        if (!emitted && end_of_pattern < children.last) emit(path_[depth], node.windows);
    }

    template <class Node>
    void child(std::size_t depth, const Node& from, std::uint32_t added, std::uint32_t least) {
        level(depth + 1);
        const std::uint32_t count = child_.select(from, added);
        child_.find(from, added + 1, from.size(), least);
        closure_.clear();
        child_.kept.clear();
        double candidates = 0;
        for (std::size_t i = 0; i < child_.found.size; ++i) {
            if (child_.found.counts[i] == count) {
                closure_.push_back(from.ranks[child_.found.numbers[i]]);
            } else {
                child_.kept.push_back(child_.found.numbers[i]);
                candidates += child_.found.counts[i];
            }
        }
        if (hopeless(path_[depth], closure_.size(), child_.kept.size(), count)) return;
        extend(depth, from.ranks[added], closure_);
        const pattern& p = path_[depth + 1];
        const std::uint32_t needed = least_of_kept(p, from);
        if (child_.kept.empty() || needed >= count) {
            if (wanted(p, count) && !met_elsewhere(from, added, count))
                emit(p, child_.windows_in(from));
            return;
        }
        if (needed > least) child_.keep_at_least(needed);
        least = std::max(least, needed);
        if (count <= 64) {
            child_in_words(depth, from, added, least);
        } else if (!met_elsewhere(from, added, least)) {
            if constexpr (std::is_same_v<Node, list_node>) {
                if (!bits_count_faster(candidates)) {
                    child_.project(list_nodes_[depth + 1], child_windows::rank_in(from));
                    visit(depth + 1, list_nodes_[depth + 1], least, {});
                    return;
                }
            }
            child_.project_bits(bit_nodes_[depth + 1], from);
            visit(depth + 1, bit_nodes_[depth + 1], least, {});
        }
    }

    // The least count of the wanted patterns below a pattern whose candidates are child_.kept.
    std::uint32_t least_of_kept(const pattern& p, const node_items& from) {
        for (const std::uint32_t rank : p.ranks) marked_[ranks_[rank].unit] = 1;
        touched_.clear();
        for (const std::uint32_t k : child_.kept) {
            const std::uint32_t unit = ranks_[from.ranks[k]].unit;
            if (std::exchange(marked_[unit], 1) == 0) touched_.push_back(unit);
        }
        for (const std::uint32_t unit : touched_) marked_[unit] = 0;
        for (const std::uint32_t rank : p.ranks) marked_[ranks_[rank].unit] = 0;
        return goal_.least(static_cast<std::uint32_t>(p.ranks.size()), p.units, p.duration,
                           static_cast<std::uint32_t>(child_.kept.size()),
                           static_cast<std::uint32_t>(touched_.size()));
    }

    // Whether an item before `added` is in every window. Records in child_.excluded those that are
    // in at least this many windows.
    template <class Node>
    bool met_elsewhere(const Node& from, std::uint32_t added, std::uint32_t least) {
        child_.find(from, 0, added, least);
        child_.excluded.assign(
            child_.found.numbers.begin(),
            child_.found.numbers.begin() + static_cast<std::ptrdiff_t>(child_.found.size));
        const auto end =
            child_.found.counts.begin() + static_cast<std::ptrdiff_t>(child_.found.size);
        return std::find(child_.found.counts.begin(), end, child_.count()) != end;
    }

    // The cost of counting all pairs of candidates in either form. `sum` is the number of items in
    // all windows.
    bool bits_count_faster(double sum) const {
        const auto items = static_cast<double>(child_.kept.size());
        const auto windows = static_cast<double>(child_.count());
        const double by_lists = sum * sum / windows + items * items;
        const double by_bits = items * items * std::ceil(windows / 64) * kernels_.find_cost;
        return by_bits < by_lists;
    }

    // ---- nodes of at most 64 windows ----

    template <class Node>
    void child_in_words(std::size_t depth, const Node& from, std::uint32_t added,
                        std::uint32_t least) {
        if (candidates_.ranks.size() < child_.kept.size())
            candidates_.ranks.resize(child_.kept.size());
        for (std::size_t i = 0; i < child_.kept.size(); ++i)
            candidates_.ranks[i] = from.ranks[child_.kept[i]];
        child_.words_of(from, child_.kept, candidates_.words);
        word_node node{
            ~std::uint64_t{0} >> (64 - child_.count()), 0, child_.kept.size(), 0, 0, least};
        const pattern& p = path_[depth + 1];
        const bool open = cut(p, node);
        if (!open && !wanted(p, child_.count())) return;
        if (met_elsewhere(from, added, open ? node.least : child_.count())) return;
        const std::span<const std::uint32_t> windows = child_.windows_in(from);
        if (!open) {
            emit(p, windows);
            return;
        }
        child_.words_of(from, child_.excluded, excluded_words_);
        node.excluded_end = child_.excluded.size();
        expand_words(depth + 1, node);
    }

    // Raises the least count of a node by the number of units that each of its windows can still
    // add; false if nothing below it is wanted. Drops candidates below the new count.
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
                    child_.windows()[static_cast<std::size_t>(std::countr_zero(rest))]);
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
        if (++candidates_tried_ % 4096 == 0) core::throw_if_stopped(stop_);
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

    const item_index& items_;
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
    // Indexed by unit; zero between uses.
    std::vector<std::uint64_t> unit_words_;
    std::vector<char> marked_;
    std::vector<std::uint32_t> touched_;
    child_windows child_;
    std::vector<std::uint32_t> closure_;
    // Nodes of at most 64 windows.
    struct {
        std::vector<std::uint64_t> words{};
        std::vector<std::uint32_t> ranks{};
    } candidates_;
    std::vector<std::uint64_t> excluded_words_;
    std::vector<std::uint32_t> full_;
    std::vector<std::uint32_t> windows_of_words_;
    std::uint64_t candidates_tried_ = 0;
};

}  // namespace spikeweave::spade
