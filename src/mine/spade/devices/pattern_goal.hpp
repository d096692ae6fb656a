#pragma once

#include "mine/spade/devices/pattern_store.hpp"

namespace spikeweave::spade {

/// All patterns of a task that meet a rule, in the order of `pattern_table`: counts and stores
/// them, or writes them if the batch has places for them.
template <class Warp>
class pattern_goal {
    using u32 = std::uint32_t;

public:
    static constexpr bool is_in_order = true;

    SPIKEWEAVE_LANES pattern_goal(Warp warp, const pattern_batch& batch, std::uint64_t task,
                                  store_writer<Warp>& stored)
        : warp_(warp), batch_(batch), task_(task), stored_(stored) {
        stored_.begin_task(task);
        if (batch.places != nullptr) place_ = batch.places[task];
    }

    SPIKEWEAVE_LANES u32 least(u32 size, u32 units, u32, u32 more_items, u32 more_units) const {
        return warp_.min(
            least_of_rules(size, units, more_items, more_units, warp_.lane(), Warp::size));
    }
    SPIKEWEAVE_LANES u32 own_least(u32 size, u32 units, u32, u32 more_items, u32 more_units) const {
        return least_of_rules(size, units, more_items, more_units, 0, 1);
    }
    SPIKEWEAVE_LANES bool own_wants(u32 size, u32 units, u32 count, u32) const {
        return batch_.rules.take(size, units, count, 0, 1);
    }
    SPIKEWEAVE_LANES bool wants(u32 size, u32 units, u32 count, u32) const {
        return may_want(size, units, count);
    }
    SPIKEWEAVE_LANES bool may_want(u32 size, u32 units, u32 count) const {
        return warp_.ballot(batch_.rules.take(size, units, count, warp_.lane(), Warp::size)) != 0;
    }

    /// @param items           of the pattern, in any order
    /// @param for_each_plane  calls its argument with the windows of each plane, as bits, and with
    ///                        where these windows begin
    template <class ForEachPlane>
    SPIKEWEAVE_LANES bool take(const device_pattern& p, bool is_subset, const u32* items,
                               ForEachPlane&& for_each_plane) {
        // The CPU counts further than 32 bits.
        if (found_.patterns == no_count || found_.subsets == no_count ||
            found_.too_frequent == no_count)
            return false;
        if (is_subset) {
            ++found_.subsets;
            return true;
        }
        if (batch_.max_occ > 0 && p.count > batch_.max_occ) {
            ++found_.too_frequent;
            return true;
        }
        u32* const stored =
            batch_.places == nullptr ? stored_.add(p, batch_.with_occurrences) : nullptr;
        if (stored != nullptr) {
            write(p, items, for_each_plane, stored, stored + p.size);
        } else if (batch_.places != nullptr) {
            const std::uint64_t pattern = place_.patterns + found_.patterns;
            if (warp_.lane() == 0) {
                batch_.sizes[pattern] = p.size;
                batch_.counts[pattern] = p.count;
            }
            u32* const occurrences =
                batch_.with_occurrences
                    ? batch_.occurrences + place_.occurrences + found_.occurrences
                    : nullptr;
            write(p, items, for_each_plane, batch_.pattern_items + place_.items + found_.items,
                  occurrences);
        }
        ++found_.patterns;
        found_.items += p.size;
        found_.occurrences += p.count;
        return true;
    }

    SPIKEWEAVE_LANES void note_totals() const {
        if (warp_.lane() != 0 || batch_.places != nullptr) return;
        task_totals& out = batch_.totals[task_];
        out.patterns = found_.patterns;
        out.subsets = found_.subsets;
        out.too_frequent = found_.too_frequent;
        out.items = found_.items;
        out.occurrences = found_.occurrences;
    }

private:
    SPIKEWEAVE_LANES u32 least_of_rules(u32 size, u32 units, u32 more_items, u32 more_units,
                                        u32 first, u32 step) const {
        return batch_.rules.least(size, units, more_items, more_units, first, step,
                                  [](u32) -> u32 { return 0; });
    }

    // Packed items ascend in time order, so the place of each is the number of lower ones.
    template <class ForEachPlane>
    SPIKEWEAVE_LANES void write(const device_pattern& p, const u32* items,
                                ForEachPlane&& for_each_plane, u32* to, u32* occurrences) const {
        for (u32 i = warp_.lane(); i < p.size; i += Warp::size) {
            const u32 item = items[i];
            u32 before = 0;
            for (u32 k = 0; k < p.size; ++k) before += items[k] < item ? 1 : 0;
            to[before] = packed_item::unit(item) * batch_.window_bins + packed_item::lag(item);
        }
        warp_.sync();
        if (!batch_.with_occurrences) return;
        u32 written = 0;
        for_each_plane([&](u32 windows, const u32* bins) {
            for (u32 bit = warp_.lane(); bit < 32; bit += Warp::size)
                if ((windows >> bit & 1U) != 0)
                    occurrences[written + Warp::bits(windows & ((1U << bit) - 1))] = bins[bit];
            written += Warp::bits(windows);
        });
    }

    Warp warp_;
    const pattern_batch& batch_;
    std::uint64_t task_;
    store_writer<Warp>& stored_;
    task_place place_{};
    task_totals found_{};
};

}  // namespace spikeweave::spade
