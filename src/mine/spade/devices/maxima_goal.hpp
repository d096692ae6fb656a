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
        const std::uint32_t largest = more_items > no_count - size ? no_count : size + more_items;
        std::uint32_t own = no_count;
        for (std::uint32_t r = warp_.lane(); r < batch_.rule_count; r += Warp::size) {
            const device_rule rule = batch_.rules[r];
            const bool reachable =
                rule.max_spikes > size &&
                (rule.min_spikes <= size || rule.min_spikes - size <= more_items) &&
                (rule.min_neu <= units || rule.min_neu - units <= more_units);
            if (!reachable) continue;
            const std::uint32_t size_reached =
                largest < rule.max_spikes ? largest : rule.max_spikes;
            const std::uint32_t above = lowest(size_reached, column(duration)) + 1;
            const std::uint32_t needed = above > rule.min_occ ? above : rule.min_occ;
            own = needed < own ? needed : own;
        }
        return warp_.min(own);
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
        bool own = false;
        for (std::uint32_t r = warp_.lane(); r < batch_.rule_count; r += Warp::size) {
            const device_rule rule = batch_.rules[r];
            own = own || (count >= rule.min_occ && size >= rule.min_spikes &&
                          size <= rule.max_spikes && units >= rule.min_neu);
        }
        return warp_.ballot(own) != 0;
    }

    Warp warp_;
    const maxima_batch& batch_;
    std::uint32_t* most_;
    std::uint32_t* lowest_;
};

}  // namespace spikeweave::spade
