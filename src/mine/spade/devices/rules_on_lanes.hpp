#pragma once

#include <cstdint>

#include "mine/spade/devices/lanes.hpp"

namespace spikeweave::spade {

inline constexpr std::uint32_t no_count = 0xffffffff;

/// A rule of the search; `max_spikes` is always set.
struct device_rule {
    std::uint32_t min_occ;
    std::uint32_t min_spikes;
    std::uint32_t max_spikes;
    std::uint32_t min_neu;
};

/// The rules of a search. Each function looks at the rules from `first` on, `step` apart, so that
/// lanes share them.
struct device_rules {
    const device_rule* rules;
    std::uint32_t count;

    /// Whether a pattern meets a rule.
    SPIKEWEAVE_LANES bool take(std::uint32_t size, std::uint32_t units, std::uint32_t windows,
                               std::uint32_t first, std::uint32_t step) const {
        bool takes = false;
        for (std::uint32_t r = first; r < count; r += step) {
            const device_rule rule = rules[r];
            takes = takes || (windows >= rule.min_occ && size >= rule.min_spikes &&
                              size <= rule.max_spikes && units >= rule.min_neu);
        }
        return takes;
    }

    /// The least count of a pattern that has more than `size` spikes, and so many more items and
    /// units at most; `no_count` if none can meet a rule.
    /// @param above  above(n): all wanted patterns of up to n spikes have more windows than this
    template <class Above>
    SPIKEWEAVE_LANES std::uint32_t least(std::uint32_t size, std::uint32_t units,
                                         std::uint32_t more_items, std::uint32_t more_units,
                                         std::uint32_t first, std::uint32_t step,
                                         Above&& above) const {
        const std::uint32_t largest = more_items > no_count - size ? no_count : size + more_items;
        std::uint32_t least = no_count;
        for (std::uint32_t r = first; r < count; r += step) {
            const device_rule rule = rules[r];
            const bool reachable =
                rule.max_spikes > size &&
                (rule.min_spikes <= size || rule.min_spikes - size <= more_items) &&
                (rule.min_neu <= units || rule.min_neu - units <= more_units);
            if (!reachable) continue;
            const std::uint32_t reached = largest < rule.max_spikes ? largest : rule.max_spikes;
            const std::uint32_t known = above(reached) + 1;
            const std::uint32_t needed = known > rule.min_occ ? known : rule.min_occ;
            least = needed < least ? needed : least;
        }
        return least;
    }
};

}  // namespace spikeweave::spade
