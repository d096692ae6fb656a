#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {

/// Bins of lags. Bin i holds the lags in ((i - before) w, (i - before + 1) w]; if all times are
/// multiples of w, it holds (i - before + 1) w alone.
struct lag_grid {
    double width_us = 0;
    bool on_clock = false;  ///< whether all times are multiples of the width
    std::int64_t before = 0;
    std::size_t size = 0;

    /// The bin of a lag; it may lie outside.
    std::int64_t bin_of(std::int64_t lag_us) const;
    /// The number of the multiple of the width that a lag on a clock is, but for rounding: times
    /// and the step of the clock are exact to a microsecond.
    std::int64_t multiple_of(std::int64_t lag_us) const;
    /// The bin behind the last one whose lags are all at most this.
    std::size_t end_of(duration lag) const;
    /// The longest lag, forwards or backwards.
    std::int64_t reach_us() const;
    friend bool operator==(const lag_grid&, const lag_grid&) = default;
};

/// A grid that resolves these windows, with lags from `before` below 0 to `after` above it.
/// @param clock_step_us  the common divisor of all times, if they have one
lag_grid grid_for(std::optional<double> clock_step_us, std::span<const delay_interval> windows,
                  duration before, duration after);

using lag_histogram = std::vector<double>;

/// The histogram of the lags from spikes of one train to spikes of another.
lag_histogram histogram_of(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                           const lag_grid& grid);

/// The same, and that of those spikes of the first train that are not left out.
struct histograms_of_part {
    lag_histogram all;
    lag_histogram of_part;
};
histograms_of_part histograms_of(std::span<const std::int64_t> from,
                                 std::span<const std::uint8_t> is_left_out,
                                 std::span<const std::int64_t> to, const lag_grid& grid);

/// The histograms of one unit with all later units, in both directions.
class histograms_from {
public:
    /// @param spikes, trains  must outlive this object
    histograms_from(const spike_sequence& spikes, const spike_trains& trains, const lag_grid& grid);

    /// Counts anew, for this unit.
    void count(unit_id unit);
    /// The lags of a later unit's spikes after those of the unit, and the reverse.
    void forwards(unit_id later, lag_histogram& out) const;
    void backwards(unit_id later, lag_histogram& out) const;

private:
    const std::uint32_t* inside(unit_id unit) const {
        return counts_.data() + 2 * cells_ * to_index(unit);
    }
    const std::uint32_t* at_bounds(unit_id unit) const { return inside(unit) + cells_; }

    const spike_sequence& spikes_;
    const spike_trains& trains_;
    lag_grid grid_;
    // Each lag is counted once for both directions: in the cell between two multiples of the width
    // that it is in, or as a multiple. Those of a unit follow each other.
    std::int64_t middle_;  // number of the cell that begins at lag 0, and of that multiple
    std::size_t cells_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace spikeweave::assess
