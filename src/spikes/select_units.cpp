#include <algorithm>
#include <limits>
#include <utility>

#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

spike_sequence select_units(const spike_sequence& spikes, std::span<const std::string> names) {
    constexpr unit_id left_out{std::numeric_limits<std::uint32_t>::max()};
    std::vector<unit_id> kept;
    kept.reserve(names.size());
    for (const std::string& name : names) kept.push_back(spikes.unit(name));
    // The order of the names has no effect.
    std::ranges::sort(kept);
    std::vector<unit_id> renumbered(spikes.unit_count(), left_out);
    std::vector<std::string> kept_names;
    kept_names.reserve(kept.size());
    for (const unit_id unit : kept) {
        renumbered[to_index(unit)] = unit_id{static_cast<std::uint32_t>(kept_names.size())};
        kept_names.push_back(spikes.name(unit));
    }

    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const unit_id unit = renumbered[to_index(spikes.units()[i])];
        if (unit == left_out) continue;
        times_us.push_back(spikes.times_us()[i]);
        units.push_back(unit);
    }
    return taken_from(
        spikes, {std::move(times_us), std::move(units), std::move(kept_names), spikes.span()});
}

}  // namespace spikeweave
