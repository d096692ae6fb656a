#pragma once

#include "mine/spade/devices/device_pattern.hpp"
#include "mine/spade/devices/pattern_node.hpp"

namespace spikeweave::spade {

/// The memory in which a warp makes nodes, those of deeper ones behind. A node without room in it
/// raises `left_out`, so that the CPU searches the recording or the task.
template <class Warp>
class node_memory {
    using u32 = std::uint32_t;

public:
    SPIKEWEAVE_LANES node_memory(Warp warp, const warp_space& space, u32* left_out)
        : warp_(warp), space_(space), left_out_(left_out) {}

    /// Where the memory of the next node begins; given back, it is free from there on.
    SPIKEWEAVE_LANES u32 top() const { return top_; }
    SPIKEWEAVE_LANES void free_from(u32 top) { top_ = top; }

    SPIKEWEAVE_LANES void leave_out() {
        if (warp_.lane() == 0) Warp::raise(left_out_, 1);
    }

    SPIKEWEAVE_LANES bool take_windows(const pattern_node& from, u32 child, u32 count,
                                       pattern_node& node) {
        if (!moves(from, node)) return true;
        u32* const bins = allocate(count);
        if (bins == nullptr) return false;
        u32 before = 0;
        for (u32 plane = 0; plane < from.planes; ++plane) {
            const u32 mask = from.candidates.at(plane, child);
            for (u32 bit = warp_.lane(); bit < 32; bit += Warp::size)
                if ((mask >> bit & 1U) != 0)
                    bins[before + Warp::bits(mask & ((1U << bit) - 1))] =
                        from.bins[plane * 32 + bit];
            before += Warp::bits(mask);
        }
        node.bins = bins;
        return true;
    }

    SPIKEWEAVE_LANES bool take_candidates(const pattern_node& from, u32 child, u32 kept,
                                          pattern_node& node) {
        u32* const items = allocate(kept);
        u32* const words = allocate(std::uint64_t{kept} * node.planes);
        if (items == nullptr || words == nullptr) return false;
        node.candidates = {words, kept, kept};
        node.items = items;
        for (u32 i = warp_.lane(); i < kept; i += Warp::size) {
            const u32 number = space_.found[i];
            items[i] = from.items[number];
            take_words(from, child, from.candidates, number, node, node.candidates, i);
        }
        warp_.sync();
        return true;
    }

    SPIKEWEAVE_LANES bool take_excluded(const pattern_node& from, u32 child, u32 kept,
                                        pattern_node& node) {
        u32* const words = allocate(std::uint64_t{kept} * node.planes);
        if (words == nullptr) return false;
        node.excluded = {words, kept, kept};
        for (u32 i = warp_.lane(); i < kept; i += Warp::size) {
            const u32 number = space_.found[i];
            if (number < child)
                take_words(from, child, from.candidates, number, node, node.excluded, i);
            else
                take_words(from, child, from.excluded, number - child, node, node.excluded, i);
        }
        warp_.sync();
        return true;
    }

    /// Drops the candidates of a node that are in too few of its windows.
    SPIKEWEAVE_LANES void drop_rare(pattern_node& node) {
        u32* const items = const_cast<u32*>(node.items);
        u32 left = 0;
        u32 before_end = 0;
        for (u32 begin = 0; begin < node.candidates.count; begin += Warp::size) {
            const u32 k = begin + warp_.lane();
            const bool valid = k < node.candidates.count;
            u32 held = 0;
            for (u32 p = 0; valid && p < node.planes; ++p)
                held += Warp::bits(node.candidates.at(p, k));
            const u32 all = warp_.ballot(held >= node.least);
            const u32 to = left + Warp::bits(all & ((1U << warp_.lane()) - 1));
            const bool stays = held >= node.least;
            const u32 item = valid ? items[k] : 0;
            warp_.sync();
            if (stays) items[to] = item;
            for (u32 p = 0; p < node.planes; ++p) {
                const u32 word = valid ? node.candidates.at(p, k) : 0;
                warp_.sync();
                if (stays) node.candidates.at(p, to) = word;
            }
            left += Warp::bits(all);
            if (begin < node.end) before_end += Warp::bits(warp_.ballot(stays && k < node.end));
            warp_.sync();
        }
        node.candidates.count = left;
        node.end = before_end;
    }

    /// Puts the candidates of a unit together.
    SPIKEWEAVE_LANES bool group_by_unit(pattern_node& node) {
        const u32 candidates = node.candidates.count;
        u32* const order = allocate(candidates);
        if (order == nullptr) return false;
        const auto unit_of = [&](u32 k) { return packed_item::unit(node.items[k]); };
        u32 touched = 0;
        for (u32 begin = 0; begin < candidates; begin += Warp::size) {
            const u32 k = begin + warp_.lane();
            const u32 unit = k < candidates ? unit_of(k) : 0;
            record_new(k < candidates && Warp::add(space_.unit_words + unit, 1) == 0, unit,
                       touched);
        }
        warp_.sync();
        if (warp_.lane() == 0) {
            u32 before = 0;
            for (u32 t = 0; t < touched; ++t) {
                u32& place = space_.unit_words[space_.touched[t]];
                const u32 items = place;
                place = before;
                before += items;
            }
        }
        warp_.sync();
        for (u32 k = warp_.lane(); k < candidates; k += Warp::size)
            order[Warp::add(space_.unit_words + unit_of(k), 1)] = k;
        warp_.sync();
        clear_touched(touched);
        node.by_unit = order;
        return true;
    }

    /// Records the units of items that are not yet in the pattern in space_.touched, whose words
    /// are then 1; returns their number.
    template <class ItemOf>
    SPIKEWEAVE_LANES u32 touch(u32 items, ItemOf&& item_of) {
        u32 touched = 0;
        for (u32 begin = 0; begin < items; begin += Warp::size) {
            const u32 i = begin + warp_.lane();
            bool is_new = false;
            u32 unit = 0;
            if (i < items) {
                unit = packed_item::unit(item_of(i));
                is_new =
                    space_.marked[unit] == 0 && Warp::set_bits(space_.unit_words + unit, 1) == 0;
            }
            record_new(is_new, unit, touched);
        }
        warp_.sync();
        return touched;
    }
    SPIKEWEAVE_LANES void clear_touched(u32 touched) {
        for (u32 t = warp_.lane(); t < touched; t += Warp::size)
            space_.unit_words[space_.touched[t]] = 0;
        warp_.sync();
    }

private:
    // Memory for this many words, or null.
    SPIKEWEAVE_LANES u32* allocate(std::uint64_t words) {
        if (words > space_.arena_words - top_) {
            leave_out();
            return nullptr;
        }
        u32* const begin = space_.arena + top_;
        top_ += static_cast<u32>(words);
        return begin;
    }

    // If the windows of the child need fewer planes, they are moved together; otherwise those that
    // the child does not have stay, as zeros.
    SPIKEWEAVE_LANES static bool moves(const pattern_node& from, const pattern_node& node) {
        return node.planes < from.planes;
    }

    // One lane: the words of item `number` in the windows of a child.
    SPIKEWEAVE_LANES void take_words(const pattern_node& from, u32 child, const item_words& among,
                                     u32 number, const pattern_node& node, const item_words& to,
                                     u32 at) const {
        if (!moves(from, node)) {
            for (u32 p = 0; p < from.planes; ++p)
                to.at(p, at) = among.at(p, number) & from.candidates.at(p, child);
            return;
        }
        u32 word = 0;
        u32 place = 0;
        for (u32 p = 0; p < from.planes; ++p) {
            const u32 source = among.at(p, number);
            for (u32 rest = from.candidates.at(p, child); rest != 0; rest &= rest - 1) {
                word |= (source >> Warp::first(rest) & 1U) << place % 32;
                if (++place % 32 == 0) {
                    to.at(place / 32 - 1, at) = word;
                    word = 0;
                }
            }
        }
        if (place % 32 != 0) to.at(place / 32, at) = word;
    }

    SPIKEWEAVE_LANES void record_new(bool is_new, u32 unit, u32& touched) {
        const u32 all = warp_.ballot(is_new);
        const u32 before = (1U << warp_.lane()) - 1;
        if (is_new) space_.touched[touched + Warp::bits(all & before)] = unit;
        touched += Warp::bits(all);
    }

    Warp warp_;
    warp_space space_;
    u32* left_out_;
    u32 top_ = 0;
};

}  // namespace spikeweave::spade
