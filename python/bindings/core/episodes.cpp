#include "bindings/core/episodes.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>

namespace spikeweave::python {

nb::dict table_arrays(const episode_table& table) {
    std::size_t nodes = 0;
    for (const counted_episode& one : table.episodes) nodes += one.what.size();
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> units;
    std::vector<delay_interval> steps;
    offsets.reserve(table.episodes.size() + 1);
    units.reserve(nodes);
    steps.reserve(nodes - std::min(nodes, table.episodes.size()));
    for (const counted_episode& one : table.episodes) {
        for (const unit_id unit : one.what.units)
            units.push_back(static_cast<std::uint32_t>(to_index(unit)));
        steps.insert(steps.end(), one.what.delays.begin(), one.what.delays.end());
        offsets.push_back(static_cast<std::int64_t>(units.size()));
    }
    nb::dict out;
    out["offsets"] = to_numpy(std::move(offsets));
    out["units"] = to_numpy(std::move(units));
    out["delays"] = interval_array(steps);
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

std::vector<episode> episodes_of(const array_in<std::int64_t>& offsets,
                                 const array_in<std::uint32_t>& units,
                                 const matrix_in<double>& delays) {
    std::vector<episode> out;
    std::size_t step = 0;
    for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        episode one;
        for (std::int64_t at = offsets.data()[i]; at < offsets.data()[i + 1]; ++at)
            one.units.push_back(unit_id{units.data()[at]});
        for (std::size_t s = 0; s + 1 < one.units.size(); ++s, ++step)
            one.delays.push_back({duration_from_seconds(delays.data()[2 * step]),
                                  duration_from_seconds(delays.data()[2 * step + 1])});
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace spikeweave::python
