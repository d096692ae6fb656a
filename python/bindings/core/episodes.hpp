#pragma once

#include "bindings/core/values.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

namespace spikeweave::python {

/// Makes flat arrays: episode i has units[offsets[i]:offsets[i + 1]], and one delay fewer.
nb::dict table_arrays(const episode_table& table);

/// The table of a window, with its number, its begin and end in seconds and its spikes.
nb::dict window_arrays(const episode_window& window);

/// Flat arrays as `table_arrays` makes them: offsets, units and delays.
using episodes_in = std::tuple<array_in<std::int64_t>, array_in<std::uint32_t>, matrix_in<double>>;
std::vector<episode> episodes_of(const episodes_in& arrays);

}  // namespace spikeweave::python
