#pragma once

#include "mine/spade/devices/device_pattern.hpp"
#include "mine/spade/devices/node_memory.hpp"
#include "mine/spade/devices/rules_on_lanes.hpp"

namespace spikeweave::spade {

/// The children of a child of a root may be divided among several searches.
struct subtree_part {
    std::uint32_t number = 0;
    std::uint32_t parts = 1;
};

/// The part of a warp in a search: depth first below children of a root. It visits what
/// `closed_search` does, with the same bounds.
///
/// `Goal` defines the wanted patterns, with the functions of maxima_goal.hpp. If it is
/// `is_in_order`, it gets patterns in the order of `pattern_table`, in which a pattern follows
/// those below it whose next item has a lower rank than the pattern's last one.
///
/// A node that does not fit into tables raises `left_out`, so that the CPU searches it.
template <class Warp, class Goal>
class subtree_search {
    using u32 = std::uint32_t;
    using pattern = device_pattern;

public:
    /// @param rows  finds patterns that are part of one that begins earlier; null if these are
    ///              wanted as well
    SPIKEWEAVE_LANES subtree_search(Warp warp, const raster_rows* rows, const warp_space& space,
                                    Goal& goal, u32* left_out, subtree_part part = {})
        : warp_(warp),
          rows_(rows),
          space_(space),
          goal_(goal),
          memory_(warp, space, left_out),
          part_(part) {}

    /// Visits the children of a root whose numbers `next_child()` returns to all lanes.
    /// @param path  the units of the root's pattern
    template <class Next, class Stop>
    SPIKEWEAVE_LANES void run(const pattern_node& root, const u32* path, Next&& next_child,
                              Stop&& stopped) {
        for (u32 i = warp_.lane(); i < root.units; i += Warp::size) {
            space_.path[i] = path[i];
            space_.marked[path[i]] = 1;
        }
        warp_.sync();
        memory_.free_from(0);
        u32 depth = 0;
        bool stops = false;
        for (u32 steps = 1;; ++steps) {
            if (steps % 256 == 0) stops = stops || stopped();
            const pattern_node& from = depth == 0 ? root : space_.nodes[depth - 1];
            const u32 child = depth == 0 ? next_child() : take_open_child(space_.nodes[depth - 1]);
            if constexpr (Goal::is_in_order)
                if (depth > 0 && from.is_pending && child >= from.end && !stops)
                    take_pending(depth == 1 ? root : space_.nodes[depth - 2],
                                 space_.nodes[depth - 1]);
            if (stops || child >= from.candidates.count) {
                if (depth == 0) break;
                leave(from, depth == 1 ? root.units : space_.nodes[depth - 2].units);
                --depth;
                continue;
            }
            if (depth == warp_space::most_depth) {
                memory_.leave_out();
            } else if (open(from, child, depth > 0 || part_.number == 0, space_.nodes[depth])) {
                if (depth == 0) take_part(space_.nodes[0]);
                ++depth;
            }
        }
        forget(0, root.units);
    }

    /// Takes the pattern of a root, without its items.
    SPIKEWEAVE_LANES void take_root(const pattern_node& root, u32 count) {
        if (!goal_.wants(root.size, root.units, count, root.duration)) return;
        const bool preceded = precedes_all(root.duration, [&](auto&& takes) {
            for (u32 i = 0; i < count; ++i)
                if (!takes(root.bins[i])) return;
        });
        const pattern p{root.size, root.units, root.duration, count};
        if (!goal_.take(p, preceded, nullptr, [](auto&&) {})) memory_.leave_out();
    }

private:
    /// The number of items recorded in space_.found and counts, and in space_.full.
    struct found_items {
        u32 kept = 0;
        u32 full = 0;
    };

    // ---- many children ----

    // Leaves the children of a node that are in other parts to these. Its own pattern is taken in
    // the part with the next child.
    SPIKEWEAVE_LANES void take_part(pattern_node& node) {
        if (part_.parts == 1) return;
        const u32 children = node.candidates.count;
        const auto begin_of = [&](u32 part) {
            return static_cast<u32>(std::uint64_t{children} * part / part_.parts);
        };
        const u32 begin = begin_of(part_.number);
        const u32 last = begin_of(part_.number + 1);
        if (warp_.lane() == 0) {
            node.next = begin;
            node.last = last;
            node.is_pending = node.is_pending && begin <= node.end &&
                              (node.end < last || part_.number + 1 == part_.parts);
        }
        warp_.sync();
    }

    // The number of the next child of a node that must be opened; `no_count` if there is none.
    SPIKEWEAVE_LANES u32 take_open_child(pattern_node& node) {
        u32 next = node.next;
        u32 open = node.open;
        for (; open == 0 && next < node.last; next += Warp::size) open = worth_opening(node, next);
        const u32 child = open != 0 ? next - Warp::size + Warp::first(open) : no_count;
        warp_.sync();
        if (warp_.lane() == 0) {
            node.next = next;
            node.open = open & (open - 1);
        }
        warp_.sync();
        return child;
    }

    // Which of the children from `first` on, one for each lane, must be opened: those that are
    // wanted, or below which something is, as far as the number of items and units shows that can
    // be added. Few are, and each lane examines one, so that this takes less time than to open
    // them.
    SPIKEWEAVE_LANES u32 worth_opening(const pattern_node& from, u32 first) const {
        const bool valid = first + warp_.lane() < from.last;
        const u32 child = valid ? first + warp_.lane() : first;
        const u32 item = from.items[child];
        const u32 unit = packed_item::unit(item);
        const bool is_new = space_.marked[unit] == 0;
        const u32 lag = packed_item::lag(item);
        const u32 duration = lag > from.duration ? lag : from.duration;
        const u32 size = from.size + 1;
        const u32 units = from.units + (is_new ? 1 : 0);
        const later_items later = count_later(from, first, child, unit);
        const bool opens =
            later.has_full || goal_.own_wants(size, units, later.windows, duration) ||
            (later.kept > 0 &&
             goal_.own_least(size, units, duration, later.kept, later.units) < later.windows);
        return warp_.ballot(valid && opens);
    }

    // The items that can be added to a child of this lane.
    struct later_items {
        u32 windows = 0;  ///< of the child
        u32 kept = 0;     ///< items in enough of them
        u32 units = 0;    ///< their units, without those of the child
        bool has_full = false;
    };
    SPIKEWEAVE_LANES later_items count_later(const pattern_node& from, u32 first, u32 child,
                                             u32 unit) const {
        later_items out;
        for (u32 p = 0; p < from.planes; ++p)
            out.windows += Warp::bits(from.candidates.at(p, child));
        const u32 first_word = from.candidates.at(0, child);
        u32 group = no_count;
        bool group_adds = false;
        bool seen = false;
        for (u32 i = 0; i < from.candidates.count; ++i) {
            const u32 k = from.by_unit[i];
            if (k <= first) continue;
            u32 held = Warp::bits(from.candidates.at(0, k) & first_word);
            for (u32 p = 1; p < from.planes; ++p)
                held += Warp::bits(from.candidates.at(p, k) & from.candidates.at(p, child));
            const u32 other = packed_item::unit(from.items[k]);
            if (other != group) {
                out.units += seen ? 1 : 0;
                seen = false;
                group = other;
                group_adds = space_.marked[other] == 0 && other != unit;
            }
            const bool is_full = k > child && held == out.windows;
            const bool is_kept = k > child && held >= from.least && !is_full;
            out.has_full = out.has_full || is_full;
            out.kept += is_kept ? 1 : 0;
            seen = seen || (is_kept && group_adds);
        }
        out.units += seen ? 1 : 0;
        return out;
    }

    // ---- one child ----

    // Makes the node of a child and takes its pattern; false if it needs no visit.
    // @param takes_leaf  whether to take the pattern of a child that needs none
    SPIKEWEAVE_LANES bool open(const pattern_node& from, u32 child, bool takes_leaf,
                               pattern_node& into) {
        const u32 count = count_of(from, child);
        found_items later;
        find(from, child, from.candidates, child + 1, from.candidates.count, 0, from.least, count,
             later);
        if (hopeless(from, later, count)) return false;
        const pattern p = extend(from, child, later.full, count);
        const u32 begin = memory_.top();
        if (fill(from, child, p, later, takes_leaf, into)) return true;
        memory_.free_from(begin);
        forget(from.units, p.units);
        return false;
    }

    SPIKEWEAVE_LANES u32 count_of(const pattern_node& from, u32 child) const {
        u32 own = 0;
        for (u32 p = warp_.lane(); p < from.planes; p += Warp::size)
            own += Warp::bits(from.candidates.at(p, child));
        return warp_.sum(own);
    }

    // Records the items [first, last) that are in at least `least` of the child's windows, and
    // those that are in all of them. Their numbers are raised by `shift`.
    SPIKEWEAVE_LANES void find(const pattern_node& from, u32 child, const item_words& among,
                               u32 first, u32 last, u32 shift, u32 least, u32 count,
                               found_items& found) {
        constexpr u32 tile = 4;
        for (u32 begin = first; begin < last; begin += tile * Warp::size) {
            u32 held[tile] = {};
            for (u32 p = 0; p < from.planes; ++p) {
                const u32 mask = from.candidates.at(p, child);
                const u32* words = among.words + std::uint64_t{p} * among.stride;
                for (u32 q = 0; q < tile; ++q) {
                    const u32 k = begin + q * Warp::size + warp_.lane();
                    if (k < last) held[q] += Warp::bits(words[k] & mask);
                }
            }
            for (u32 q = 0; q < tile; ++q) {
                const u32 k = begin + q * Warp::size + warp_.lane();
                if (begin + q * Warp::size < last)
                    record(k < last, k + shift, held[q], least, count, found);
            }
        }
        warp_.sync();
    }

    SPIKEWEAVE_LANES void record(bool valid, u32 number, u32 held, u32 least, u32 count,
                                 found_items& found) {
        const bool is_full = valid && held == count;
        const bool is_kept = valid && held >= least && held != count;
        const u32 full = warp_.ballot(is_full);
        const u32 kept = warp_.ballot(is_kept);
        const u32 before = (1U << warp_.lane()) - 1;
        if (is_kept) {
            const u32 at = found.kept + Warp::bits(kept & before);
            space_.found[at] = number;
            space_.counts[at] = held;
        }
        if (is_full) space_.full[found.full + Warp::bits(full & before)] = number;
        found.kept += Warp::bits(kept);
        found.full += Warp::bits(full);
    }

    // Whether nothing of a child can be wanted, even if all its units were different.
    SPIKEWEAVE_LANES bool hopeless(const pattern_node& from, const found_items& later,
                                   u32 count) const {
        const u32 size = from.size + 1 + later.full;
        const u32 units = from.units + 1 + later.full;
        if (goal_.may_want(size, units, count)) return false;
        return later.kept == 0 ||
               goal_.least(size, units, from.duration, later.kept, later.kept) >= count;
    }

    // The pattern of a child, whose units are marked from then on.
    SPIKEWEAVE_LANES pattern extend(const pattern_node& from, u32 child, u32 full, u32 count) {
        pattern p{from.size + 1 + full, from.units, from.duration, count};
        for (u32 i = 0; i <= full; ++i) {
            const u32 item = from.items[i == 0 ? child : space_.full[i - 1]];
            const u32 unit = packed_item::unit(item);
            if constexpr (Goal::is_in_order) {
                const u32 at = from.size + i;
                if (at >= warp_space::most_path)
                    memory_.leave_out();
                else if (warp_.lane() == 0)
                    space_.pattern[at] = item;
            }
            if (packed_item::lag(item) > p.duration) p.duration = packed_item::lag(item);
            const bool known = space_.marked[unit] != 0;
            warp_.sync();
            if (known) continue;
            if (p.units == warp_space::most_path) {
                memory_.leave_out();
                break;
            }
            if (warp_.lane() == 0) {
                space_.marked[unit] = 1;
                space_.path[p.units] = unit;
            }
            ++p.units;
            warp_.sync();
        }
        return p;
    }
    SPIKEWEAVE_LANES void forget(u32 first, u32 last) {
        for (u32 i = first + warp_.lane(); i < last; i += Warp::size)
            space_.marked[space_.path[i]] = 0;
        warp_.sync();
    }
    SPIKEWEAVE_LANES void leave(const pattern_node& node, u32 units_before) {
        const u32 units = node.units;
        memory_.free_from(node.arena);
        forget(units_before, units);
    }

    // The remainder of `open` once the child's units are marked.
    SPIKEWEAVE_LANES bool fill(const pattern_node& from, u32 child, const pattern& p,
                               const found_items& later, bool takes_leaf, pattern_node& into) {
        u32 kept = later.kept;
        pattern_node node{.bins = from.bins,
                          .planes = (p.count + 31) / 32,
                          .least = from.least,
                          .size = p.size,
                          .units = p.units,
                          .duration = p.duration,
                          .arena = memory_.top()};
        const bool is_open = kept > 0 && bound_by_units(from, p, kept, node) &&
                             memory_.take_windows(from, child, p.count, node) &&
                             memory_.take_candidates(from, child, kept, node) &&
                             find_end(from, child, later.full, kept, node) && cut(p, node);
        const bool wanted = goal_.wants(p.size, p.units, p.count, p.duration);
        if (!is_open && !wanted) return false;
        const u32 least = is_open ? node.least : p.count;
        found_items earlier;
        find(from, child, from.candidates, 0, child, 0, least, p.count, earlier);
        if (earlier.full == 0)
            find(from, child, from.excluded, 0, from.excluded.count, child, least, p.count,
                 earlier);
        if (earlier.full > 0) return false;
        const bool waits = Goal::is_in_order && wanted && is_open;
        if (wanted && !waits && takes_leaf) take(from, child, p);
        if constexpr (Goal::is_in_order) {
            node.is_pending = waits;
            node.own_number = child;
        }
        if (!is_open || !memory_.take_excluded(from, child, earlier.kept, node) ||
            !memory_.group_by_unit(node))
            return false;
        node.last = node.candidates.count;
        if (warp_.lane() == 0) into = node;
        warp_.sync();
        return true;
    }

    // ---- bounds ----

    // Raises the least count by the number of units that can be added, and drops items that are
    // found too rarely; false if nothing below is wanted. Only for nodes of many windows, whose
    // words take long to make.
    SPIKEWEAVE_LANES bool bound_by_units(const pattern_node& from, const pattern& p, u32& kept,
                                         pattern_node& node) {
        if (from.planes == 1) return true;
        const u32 units = memory_.touch(kept, [&](u32 i) { return from.items[space_.found[i]]; });
        memory_.clear_touched(units);
        const u32 needed = goal_.least(p.size, p.units, p.duration, kept, units);
        if (needed >= p.count) return false;
        if (needed <= node.least) return true;
        node.least = needed;
        u32 left = 0;
        for (u32 begin = 0; begin < kept; begin += Warp::size) {
            const u32 i = begin + warp_.lane();
            const u32 number = i < kept ? space_.found[i] : 0;
            const u32 held = i < kept ? space_.counts[i] : 0;
            const u32 all = warp_.ballot(held >= needed);
            const u32 before = (1U << warp_.lane()) - 1;
            if (held >= needed) {
                space_.found[left + Warp::bits(all & before)] = number;
                space_.counts[left + Warp::bits(all & before)] = held;
            }
            left += Warp::bits(all);
            warp_.sync();
        }
        kept = left;
        return kept > 0;
    }

    // Raises the least count of a node by the number of units that each of its windows can still
    // add; false if nothing below it is wanted. Drops candidates below the new count.
    SPIKEWEAVE_LANES bool cut(const pattern& p, pattern_node& node) {
        constexpr u32 levels = 8;
        const u32 candidates = node.candidates.count;
        const u32 units = memory_.touch(candidates, [&](u32 k) { return node.items[k]; });
        u32 windows[levels] = {};  // that have one more unit, two more, …
        for (u32 plane = 0; plane < node.planes; ++plane) {
            memory_.clear_touched(units);
            for (u32 k = warp_.lane(); k < candidates; k += Warp::size) {
                const u32 unit = packed_item::unit(node.items[k]);
                if (space_.marked[unit] == 0)
                    Warp::set_bits(space_.unit_words + unit, node.candidates.at(plane, k));
            }
            warp_.sync();
            for (u32 bit = warp_.lane(); bit < 32; bit += Warp::size) {
                u32 more = 0;
                for (u32 t = 0; t < units; ++t)
                    more += space_.unit_words[space_.touched[t]] >> bit & 1U;
                for (u32 l = 0; l < levels; ++l) windows[l] += Warp::bits(warp_.ballot(more > l));
            }
            warp_.sync();
        }
        memory_.clear_touched(units);
        u32 more = units;
        for (u32 l = levels; l-- > 0;)
            if (windows[l] < node.least && l < more) more = l;
        const u32 least = goal_.least(p.size, p.units, p.duration, candidates, more);
        if (least >= p.count) return false;
        if (least > node.least) {
            node.least = least;
            memory_.drop_rare(node);
        }
        return node.candidates.count > 0;
    }

    // ---- what is found ----

    // The number of candidates of a child that have a lower rank than the last item of its pattern,
    // which is `child`, or one of those that are full, or in the pattern of `from`.
    SPIKEWEAVE_LANES bool find_end(const pattern_node& from, u32 child, u32 full, u32 kept,
                                   pattern_node& node) const {
        if constexpr (Goal::is_in_order) {
            u32 end = full > 0 ? space_.full[full - 1] + 1 : child + 1;
            if (end < from.end) end = from.end;
            u32 below = 0;
            for (u32 i = warp_.lane(); i < kept; i += Warp::size)
                below += space_.found[i] < end ? 1 : 0;
            node.end = warp_.sum(below);
        }
        return true;
    }

    SPIKEWEAVE_LANES void take_pending(const pattern_node& from, pattern_node& node) {
        const u32 child = node.own_number;
        take(from, child, {node.size, node.units, node.duration, count_of(from, child)});
        if (warp_.lane() == 0) node.is_pending = false;
        warp_.sync();
    }

    SPIKEWEAVE_LANES void take(const pattern_node& from, u32 child, const pattern& p) {
        const bool preceded = precedes_all(p.duration, [&](auto&& takes) {
            for (u32 plane = 0; plane < from.planes; ++plane)
                for (u32 rest = from.candidates.at(plane, child); rest != 0; rest &= rest - 1)
                    if (!takes(from.bins[plane * 32 + Warp::first(rest)])) return;
        });
        const bool taken = goal_.take(p, preceded, space_.pattern, [&](auto&& each) {
            for (u32 plane = 0; plane < from.planes; ++plane)
                each(from.candidates.at(plane, child), from.bins + plane * 32);
        });
        if (!taken) memory_.leave_out();
    }

    // Whether some unit fires the same number of bins before all windows, near enough for one
    // window to hold both. `for_each_bin(takes)` calls `takes` until it returns false.
    template <class ForEachBin>
    SPIKEWEAVE_LANES bool precedes_all(u32 duration, ForEachBin&& for_each_bin) const {
        if (rows_ == nullptr) return false;
        const u32 most = rows_->window_bins - 1 - duration;
        for (u32 done = 0; done < most; done += 32) {
            const u32 span = most - done < 32 ? most - done : 32;
            for (u32 begin = 0; begin < rows_->units; begin += Warp::size) {
                const u32 unit = begin + warp_.lane();
                const bool valid = unit < rows_->units;
                const u32* row = rows_->row(valid ? unit : 0);
                u32 common = valid ? 0xffffffffU >> (32 - span) : 0;
                bool any = true;
                for_each_bin([&](u32 bin) {
                    common &= rows_->bits_from(row, bin, done + span);
                    return any = warp_.ballot(common != 0) != 0;
                });
                if (any) return true;
            }
        }
        return false;
    }

    Warp warp_;
    const raster_rows* rows_;
    warp_space space_;
    Goal& goal_;
    node_memory<Warp> memory_;
    subtree_part part_;
};

}  // namespace spikeweave::spade
