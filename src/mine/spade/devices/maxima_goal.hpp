#pragma once

#include "mine/spade/devices/maxima_batch.hpp"

namespace spikeweave::spade {

inline constexpr std::uint32_t no_count = 0xffffffff;

/// What a search of one recording still wants: patterns that raise a maximum. Maxima are raised by
/// many warps at once. One that is read too early is too low, so that a pattern is visited that
/// need not be; which patterns are visited depends on the schedule, the maxima do not.
template <class Warp>
class maxima_goal {
public:
    SPIKEWEAVE_LANES maxima_goal(Warp warp, const maxima_batch& batch, std::uint32_t recording)
        : warp_(warp),
          batch_(batch),
          most_(batch.most + std::uint64_t{recording} * batch.shape.maxima()),
          lowest_(batch.lowest + std::uint64_t{recording} * batch.shape.maxima()) {}

    /// The least count of a pattern below a node that has so many items and units more at most;
    /// `no_count` if none is wanted.
    SPIKEWEAVE_LANES std::uint32_t least(std::uint32_t size, std::uint32_t units,
                                         std::uint32_t duration, std::uint32_t more_items,
                                         std::uint32_t more_units) const {
        return warp_.min(least_of_rules(size, units, duration, more_items, more_units, warp_.lane(),
                                        Warp::size));
    }
    /// The same of a node of this lane.
    SPIKEWEAVE_LANES std::uint32_t own_least(std::uint32_t size, std::uint32_t units,
                                             std::uint32_t duration, std::uint32_t more_items,
                                             std::uint32_t more_units) const {
        return least_of_rules(size, units, duration, more_items, more_units, 0, 1);
    }
    /// Whether a pattern of this lane is wanted.
    SPIKEWEAVE_LANES bool own_wants(std::uint32_t size, std::uint32_t units, std::uint32_t count,
                                    std::uint32_t duration) const {
        const std::uint32_t* place = most_ + size * batch_.shape.durations + column(duration);
        return rules_take(size, units, count, 0, 1) &&
               (size >= maxima_shape::sizes || count > Warp::load(place));
    }
    SPIKEWEAVE_LANES bool wants(std::uint32_t size, std::uint32_t units, std::uint32_t count,
                                std::uint32_t duration) const {
        const std::uint32_t* place = most_ + size * batch_.shape.durations + column(duration);
        return takes(size, units, count) &&
               (size >= maxima_shape::sizes || count > warp_.min(Warp::load(place)));
    }
    /// False only if no such pattern of any duration is wanted.
    SPIKEWEAVE_LANES bool may_want(std::uint32_t size, std::uint32_t units,
                                   std::uint32_t count) const {
        return takes(size, units, count) && count > warp_.min(lowest(size, 0));
    }
    /// Raises the maxima of this and smaller sizes, which is below `maxima_shape::sizes`.
    SPIKEWEAVE_LANES void raise(std::uint32_t size, std::uint32_t count, std::uint32_t duration) {
        const std::uint32_t columns = batch_.shape.durations;
        const std::uint32_t at = column(duration);
        for (std::uint32_t z = warp_.lane(); z <= size; z += Warp::size) {
            std::uint32_t* row = most_ + z * columns;
            Warp::raise(row + at, count);
            if (columns == 1) continue;
            std::uint32_t bound = no_count;
            for (std::uint32_t d = columns; d-- > 0;) {
                const std::uint32_t one = Warp::load(row + d);
                bound = one < bound ? one : bound;
                if (d <= at) Warp::raise(lowest_ + z * columns + d, bound);
            }
        }
        warp_.sync();
    }

private:
    SPIKEWEAVE_LANES std::uint32_t column(std::uint32_t duration) const {
        return batch_.shape.durations > 1 ? duration : 0;
    }
    SPIKEWEAVE_LANES std::uint32_t lowest(std::uint32_t size, std::uint32_t from) const {
        return size < maxima_shape::sizes
                   ? Warp::load(lowest_ + size * batch_.shape.durations + from)
                   : 0;
    }
    SPIKEWEAVE_LANES bool takes(std::uint32_t size, std::uint32_t units,
                                std::uint32_t count) const {
        return warp_.ballot(rules_take(size, units, count, warp_.lane(), Warp::size)) != 0;
    }

    // The same of every rule from `first` on, `step` apart.
    SPIKEWEAVE_LANES std::uint32_t least_of_rules(std::uint32_t size, std::uint32_t units,
                                                  std::uint32_t duration, std::uint32_t more_items,
                                                  std::uint32_t more_units, std::uint32_t first,
                                                  std::uint32_t step) const {
        const std::uint32_t largest = more_items > no_count - size ? no_count : size + more_items;
        std::uint32_t least = no_count;
        for (std::uint32_t r = first; r < batch_.rule_count; r += step) {
            const device_rule rule = batch_.rules[r];
            const bool reachable =
                rule.max_spikes > size &&
                (rule.min_spikes <= size || rule.min_spikes - size <= more_items) &&
                (rule.min_neu <= units || rule.min_neu - units <= more_units);
            if (!reachable) continue;
            const std::uint32_t reached = largest < rule.max_spikes ? largest : rule.max_spikes;
            const std::uint32_t above = lowest(reached, column(duration)) + 1;
            const std::uint32_t needed = above > rule.min_occ ? above : rule.min_occ;
            least = needed < least ? needed : least;
        }
        return least;
    }
    SPIKEWEAVE_LANES bool rules_take(std::uint32_t size, std::uint32_t units, std::uint32_t count,
                                     std::uint32_t first, std::uint32_t step) const {
        bool takes = false;
        for (std::uint32_t r = first; r < batch_.rule_count; r += step) {
            const device_rule rule = batch_.rules[r];
            takes = takes || (count >= rule.min_occ && size >= rule.min_spikes &&
                              size <= rule.max_spikes && units >= rule.min_neu);
        }
        return takes;
    }

    Warp warp_;
    const maxima_batch& batch_;
    std::uint32_t* most_;
    std::uint32_t* lowest_;
};

}  // namespace spikeweave::spade
