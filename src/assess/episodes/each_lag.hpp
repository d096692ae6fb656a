#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/spike_walks.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::assess {

/// @throws invalid_argument if the spikes have no such unit.
inline void check_unit(const spike_sequence& spikes, unit_id unit) {
    if (to_index(unit) >= spikes.unit_count())
        throw invalid_argument(
            fmt::format("there is no unit {} of {}", to_index(unit), spikes.unit_count()));
}

/// Calls `take` with the lag in microseconds of each pair of spikes of two trains with low < lag <=
/// high. A spike is no pair with itself.
template <class Take>
void each_lag(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
              std::int64_t low, std::int64_t high, const Take& take) {
    const bool is_same_unit = from.data() == to.data();
    std::size_t first = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        first = core::skip_while(
            first, to.size(), [&, most = from[i] + low](std::size_t j) { return to[j] <= most; });
        for (std::size_t j = first; j < to.size() && to[j] - from[i] <= high; ++j)
            if (!is_same_unit || i != j) take(to[j] - from[i]);
    }
}

}  // namespace spikeweave::assess
