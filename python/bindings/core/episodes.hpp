#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "bindings/core/arrays.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

namespace spikeweave::python {

/// Makes rows of the bounds of what `get` returns for each element.
template <class Elements, class Get = std::identity>
array_out<double> interval_array(const Elements& elements, Get get = {}) {
    std::vector<double> bounds;
    bounds.reserve(2 * elements.size());
    for (const auto& element : elements) {
        const delay_interval& delay = std::invoke(get, element);
        bounds.push_back(to_seconds(delay.low));
        bounds.push_back(to_seconds(delay.high));
    }
    return to_numpy(std::move(bounds), {elements.size(), std::size_t{2}});
}

/// Makes flat arrays: episode i has units[offsets[i]:offsets[i + 1]], and one delay fewer.
nb::dict table_arrays(const episode_table& table);

/// The table of a window, with its number, its begin and end in seconds and its spikes.
nb::dict window_arrays(const episode_window& window);

/// Reads flat arrays as `table_arrays` makes them.
std::vector<episode> episodes_of(const array_in<std::int64_t>& offsets,
                                 const array_in<std::uint32_t>& units,
                                 const matrix_in<double>& delays);

}  // namespace spikeweave::python
