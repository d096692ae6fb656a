#include "bindings/core/episodes.hpp"

namespace spikeweave::python {

nb::dict table_arrays(const episode_table& table) {
    std::vector<std::int64_t> offsets{0};
    std::vector<unit_id> units;
    std::vector<delay_interval> steps;
    for (const counted_episode& one : table.episodes) {
        units.insert(units.end(), one.what.units.begin(), one.what.units.end());
        steps.insert(steps.end(), one.what.delays.begin(), one.what.delays.end());
        offsets.push_back(static_cast<std::int64_t>(units.size()));
    }
    nb::dict out;
    out["offsets"] = to_numpy(std::move(offsets));
    out["units"] = column(units);
    out["delays"] = column(steps);
    add_columns(out, table.episodes, "counts", &counted_episode::count);
    return out;
}

nb::dict window_arrays(const episode_window& window) {
    nb::dict out = table_arrays(window.table);
    out["threshold"] = window.table.threshold;
    out["number"] = window.bounds.number;
    out["begin"] = to_seconds(window.bounds.begin);
    out["end"] = to_seconds(window.bounds.end);
    out["spike_count"] = window.spikes;
    out["complete_to_size"] = window.table.complete_to_size;
    return out;
}

std::vector<episode> episodes_of(const episodes_in& arrays) {
    const auto& [offsets, units, delays] = arrays;
    check_offsets(span_of(offsets), units.shape(0));
    std::vector<episode> out;
    std::size_t step = 0;
    for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        episode& one = out.emplace_back();
        for (std::int64_t at = offsets.data()[i]; at < offsets.data()[i + 1]; ++at)
            one.units.push_back(unit_id{units.data()[at]});
        for (std::size_t s = 0; s + 1 < one.units.size(); ++s, ++step) {
            if (step >= delays.shape(0) || delays.shape(1) != 2)
                throw invalid_argument("there are fewer delays than steps of episodes");
            one.delays.push_back({duration_from_seconds(delays.data()[2 * step]),
                                  duration_from_seconds(delays.data()[2 * step + 1])});
        }
    }
    return out;
}

}  // namespace spikeweave::python
