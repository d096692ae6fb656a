#pragma once

#include "mine/spade/devices/maxima_batch.hpp"

namespace spikeweave::spade {

/// The goal of a search of one recording: patterns that raise a maximum. Maxima are raised by many
/// warps at once. One that is read too early is too low, so that a pattern is visited that need not
/// be; which patterns are visited depends on the schedule, the maxima do not.
template <class Warp>
class maxima_goal {
public:
    static constexpr bool is_in_order = false;

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
        return batch_.rules.take(size, units, count, 0, 1) &&
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
    /// Raises the maxima by a pattern; false if there is no place for one so large.
    /// @param is_subset  whether it is part of one that begins earlier
    template <class ForEachPlane>
    SPIKEWEAVE_LANES bool take(const device_pattern& p, bool is_subset, const std::uint32_t*,
                               ForEachPlane&&) {
        if (is_subset || (batch_.max_occ > 0 && p.count > batch_.max_occ)) return true;
        if (p.size >= maxima_shape::sizes) return false;
        raise(p.size, p.count, p.duration);
        return true;
    }

private:
    // Raises the maxima of this and smaller sizes.
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
        return warp_.ballot(batch_.rules.take(size, units, count, warp_.lane(), Warp::size)) != 0;
    }

    // The same of every rule from `first` on, `step` apart.
    SPIKEWEAVE_LANES std::uint32_t least_of_rules(std::uint32_t size, std::uint32_t units,
                                                  std::uint32_t duration, std::uint32_t more_items,
                                                  std::uint32_t more_units, std::uint32_t first,
                                                  std::uint32_t step) const {
        return batch_.rules.least(
            size, units, more_items, more_units, first, step,
            [&](std::uint32_t reached) { return lowest(reached, column(duration)); });
    }

    Warp warp_;
    const maxima_batch& batch_;
    std::uint32_t* most_;
    std::uint32_t* lowest_;
};

}  // namespace spikeweave::spade
