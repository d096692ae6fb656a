#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/assess/episodes/pair_tests.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The number of times that spikes of one unit follow those of another at each lag
/// (docs/algorithms/significance.md, "Delays of edges"), and how many the test of pairs expects.
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

/// The lags of a pair with the window and the sign that were tested.
struct tested_lags {
    lags_of_pair pair;
    delay_interval window;
    connection_sign sign = connection_sign::excitatory;
};

/// The correlogram of a pair, and what its test compares it with: 2 * `each_side` numbers each.
struct edge_correlogram {
    std::vector<std::uint64_t> counts;
    /// The number of pairs of spikes in each bin that `test_pairs` expects without a connection, if
    /// its window lay around the middle of the bin: from the lags that are beside the window, by up
    /// to half a cell. So in a bin in the middle of the window that was tested, it is
    /// `pair_test::expected` by the width of the bin over that of the window, unless the test
    /// replaced a deviation by a line.
    std::vector<double> expected;
};

/// @param jitter_window  as in `significance_options`
/// @throws as `cross_correlograms`; also invalid_argument if a window is empty
SPIKEWEAVE_API std::vector<edge_correlogram> edge_correlograms(const spike_sequence& spikes,
                                                               std::span<const tested_lags> pairs,
                                                               duration jitter_window,
                                                               const execution& run = {});

}  // namespace spikeweave
