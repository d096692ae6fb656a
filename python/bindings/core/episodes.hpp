#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "bindings/core/values.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

namespace spikeweave::python {

/// Makes flat arrays: episode i has units[offsets[i]:offsets[i + 1]], and one delay fewer.
nb::dict table_arrays(const episode_table& table);

/// The table of a window, with its number, its begin and end in seconds and its spikes.
nb::dict window_arrays(const episode_window& window);

/// @throws invalid_argument unless the offsets ascend from 0 to at most the number of items.
template <class Offset>
void check_offsets(std::span<const Offset> offsets, std::size_t items) {
    Offset last = 0;
    for (const Offset at : offsets) {
        if (at < last || static_cast<std::size_t>(at) > items)
            throw invalid_argument(
                fmt::format("found the offset {}, expected {} to {}", at, last, items));
        last = at;
    }
}

/// Flat arrays as `table_arrays` makes them: offsets, units and delays.
using episodes_in = std::tuple<array_in<std::int64_t>, array_in<std::uint32_t>, matrix_in<double>>;
std::vector<episode> episodes_of(const episodes_in& arrays);

}  // namespace spikeweave::python
