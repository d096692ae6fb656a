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
    /// The bin behind the last one whose lags are all at most this.
    std::size_t end_of(duration lag) const;
    /// The longest lag, forwards or backwards.
    std::int64_t reach_us() const;
    friend bool operator==(const lag_grid&, const lag_grid&) = default;
};

/// A grid that resolves these windows, with lags from `before` below 0 to `after` above it.
/// @param clock_step_us  what all times are multiples of, if they are
lag_grid grid_for(std::optional<double> clock_step_us, std::span<const delay_interval> windows,
                  duration before, duration after);

using lag_histogram = std::vector<double>;

/// The histogram of the lags from spikes of one train to spikes of another.
lag_histogram histogram_of(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                           const lag_grid& grid);

/// The bin of every lag that a grid reaches, in a table where that pays.
class bins_of_lags {
public:
    explicit bins_of_lags(const lag_grid& grid);

    static constexpr auto outside = static_cast<std::size_t>(-1);
    const lag_grid& grid() const { return grid_; }
    std::int64_t reach_us() const { return reach_us_; }
    /// The bin of a lag, at most the reach, or `outside`.
    std::size_t of(std::int64_t lag_us) const {
        return table_.empty() ? computed(lag_us)
                              : table_[static_cast<std::size_t>(reach_us_ + lag_us)];
    }

private:
    std::size_t computed(std::int64_t lag_us) const;

    lag_grid grid_;
    std::int64_t reach_us_;
    std::vector<std::size_t> table_{};  // from -reach to reach
};

/// The histograms of one unit with all later units, in both directions.
class histograms_from {
public:
    /// @param spikes, trains, bins  must outlive this object
    histograms_from(const spike_sequence& spikes, const spike_trains& trains,
                    const bins_of_lags& bins);

    /// Counts anew, for this unit.
    void count(unit_id unit);
    /// The lags of a later unit's spikes after those of the unit, and the reverse.
    std::span<const std::uint32_t> forwards(unit_id later) const { return of(forwards_, later); }
    std::span<const std::uint32_t> backwards(unit_id later) const { return of(backwards_, later); }

private:
    std::span<const std::uint32_t> of(const std::vector<std::uint32_t>& all, unit_id unit) const {
        const std::size_t size = bins_.grid().size;
        return std::span{all}.subspan(to_index(unit) * size, size);
    }
    void add(unit_id unit, std::int64_t lag);

    const spike_sequence& spikes_;
    const spike_trains& trains_;
    const bins_of_lags& bins_;
    std::vector<std::uint32_t> forwards_;
    std::vector<std::uint32_t> backwards_;
};

}  // namespace spikeweave::assess
