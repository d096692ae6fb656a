#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The number of times that spikes of one unit follow those of another at each lag
/// (docs/algorithms/significance.md, "Delays of edges").
namespace spikeweave {

/// Bins of lags, as many below 0 as above: bin i has lags in (i w - r, (i + 1) w - r] of width w
/// and reach r.
struct lag_bins {
    duration width{};
    std::size_t each_side = 60;

    duration reach() const { return width * static_cast<std::int64_t>(each_side); }
};

/// The shortest bins of a round width that reach to three times the longest delay, and to 10 ms.
SPIKEWEAVE_API lag_bins bins_for(const delay_interval& delay);

/// The lags of spikes of `to` after those of `from`.
struct lags_of_pair {
    unit_id from;
    unit_id to;
    lag_bins bins;
};

/// Counts the pairs of spikes of two units in each bin of their lag. A spike is no pair with
/// itself. Within epochs, lags are those of spikes of one epoch.
/// @return for each pair, 2 * `each_side` counts
/// @throws invalid_argument if there is no such unit, or a width or a number of bins is not
/// positive; cancelled.
SPIKEWEAVE_API std::vector<std::vector<std::uint64_t>> cross_correlograms(
    const spike_sequence& spikes, std::span<const lags_of_pair> pairs, const execution& run = {});

}  // namespace spikeweave
