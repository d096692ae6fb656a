#include "assess/episodes/lag_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/spike_walks.hpp"

namespace spikeweave::assess {
namespace {

// Bins are at most this wide, or a sixteenth of the narrowest window; it has at least four bins.
constexpr std::int64_t wide_bin_us = 500;
constexpr std::int64_t bins_a_wide_window = 16;
constexpr std::int64_t bins_a_window = 4;
// Windows whose bounds have no common divisor that is as long are rounded to such bins.
constexpr std::int64_t narrowest_bin_us = 50;

std::int64_t bin_width(std::span<const delay_interval> windows) {
    std::int64_t common = 0;
    std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
    for (const delay_interval& window : windows) {
        common = std::gcd(common, std::gcd(window.low.count(), window.high.count()));
        narrowest = std::min(narrowest, (window.high - window.low).count());
    }
    const std::int64_t most =
        std::max({narrowest_bin_us, std::min(wide_bin_us, narrowest / bins_a_window),
                  narrowest / bins_a_wide_window});
    for (std::int64_t parts = 1; common > 0 && common / parts >= narrowest_bin_us; ++parts)
        if (common % parts == 0 && common / parts <= most) return common / parts;
    return most;
}

// Calls take(i, bin) for each pair of the i-th spike of a train and a spike of another.
template <class Take>
void each_bin(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
              const lag_grid& grid, const Take& take) {
    const std::int64_t reach = grid.reach_us();
    const auto width_us = static_cast<std::int64_t>(grid.width_us);
    const core::divisor width(width_us);
    const auto bin_of = [&, low = -grid.before * width_us](std::int64_t lag) {
        if (grid.on_clock) return grid.bin_of(lag);
        return lag > low ? width.quotient(lag - low - 1) : -1;
    };
    std::size_t first = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        first = core::skip_while(first, to.size(), [&, least = from[i] - reach](std::size_t j) {
            return to[j] < least;
        });
        for (std::size_t j = first; j < to.size() && to[j] <= from[i] + reach; ++j) {
            const std::int64_t bin = bin_of(to[j] - from[i]);
            if (bin >= 0 && bin < static_cast<std::int64_t>(grid.size))
                take(i, static_cast<std::size_t>(bin));
        }
    }
}

}  // namespace

std::int64_t lag_grid::multiple_of(std::int64_t lag_us) const {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(lag_us) / width_us - 0.5));
}

std::int64_t lag_grid::bin_of(std::int64_t lag_us) const {
    if (on_clock) return before - 1 + multiple_of(lag_us);
    const auto width = static_cast<std::int64_t>(width_us);
    const std::int64_t shifted = lag_us + before * width;
    return shifted > 0 ? (shifted - 1) / width : -1;
}

std::size_t lag_grid::end_of(duration lag) const {
    constexpr double rounding_us = 0.5;
    const double last = std::floor((static_cast<double>(lag.count()) + rounding_us) / width_us);
    return static_cast<std::size_t>(std::clamp<std::int64_t>(
        before + static_cast<std::int64_t>(last), 0, static_cast<std::int64_t>(size)));
}

std::int64_t lag_grid::reach_us() const {
    return static_cast<std::int64_t>(std::ceil(
               width_us *
               static_cast<double>(std::max(before, static_cast<std::int64_t>(size) - before)))) +
           1;
}

lag_grid grid_for(std::optional<double> clock_step_us, std::span<const delay_interval> windows,
                  duration before, duration after) {
    lag_grid out{.width_us = static_cast<double>(bin_width(windows))};
    if (clock_step_us && *clock_step_us >= out.width_us) {
        out.width_us = *clock_step_us;
        out.on_clock = true;
    }
    const auto bins = [&](duration length) {
        return static_cast<std::int64_t>(
            std::ceil(static_cast<double>(length.count()) / out.width_us));
    };
    out.before = bins(before) + 1;
    out.size = static_cast<std::size_t>(out.before + bins(after) + 1);
    return out;
}

lag_histogram histogram_of(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                           const lag_grid& grid) {
    lag_histogram out(grid.size);
    each_bin(from, to, grid, [&](std::size_t, std::size_t bin) { ++out[bin]; });
    return out;
}

histograms_of_part histograms_of(std::span<const std::int64_t> from,
                                 std::span<const std::uint8_t> is_left_out,
                                 std::span<const std::int64_t> to, const lag_grid& grid) {
    histograms_of_part out{lag_histogram(grid.size), lag_histogram(grid.size)};
    each_bin(from, to, grid, [&](std::size_t i, std::size_t bin) {
        ++out.all[bin];
        out.of_part[bin] += 1 - is_left_out[i];
    });
    return out;
}

histograms_from::histograms_from(const spike_sequence& spikes, const spike_trains& trains,
                                 const lag_grid& grid)
    : spikes_(spikes),
      trains_(trains),
      grid_(grid),
      middle_(std::max(grid.before, static_cast<std::int64_t>(grid.size) - grid.before) + 3),
      cells_(static_cast<std::size_t>(2 * middle_)),
      counts_(2 * cells_ * spikes.unit_count()) {}

void histograms_from::count(unit_id unit) {
    std::ranges::fill(counts_, 0U);
    const auto times = spikes_.times_us();
    const auto units = spikes_.units();
    const auto positions = trains_.positions(unit);
    const std::int64_t reach = grid_.reach_us();
    // Whether a unit is a later one is as good as random, so the others are counted as this one:
    // a branch would cost more.
    const core::near_spikes near(times, units, positions);
    if (grid_.on_clock) {
        near.each(-reach, reach, [&](std::size_t n, std::size_t i) {
            const std::int64_t multiple = grid_.multiple_of(times[i] - times[positions[n]]);
            ++counts_[2 * cells_ * to_index(std::max(units[i], unit)) + cells_ +
                      static_cast<std::size_t>(middle_ + multiple)];
        });
        return;
    }
    const auto width_us = static_cast<std::int64_t>(grid_.width_us);
    const core::divisor width(width_us);
    near.each(-reach, reach, [&](std::size_t n, std::size_t i) {
        const std::int64_t shifted = times[i] - times[positions[n]] + middle_ * width_us;
        const std::int64_t cell = width.quotient(shifted);
        const std::size_t place = shifted == cell * width_us ? cells_ : 0;
        ++counts_[2 * cells_ * to_index(std::max(units[i], unit)) + place +
                  static_cast<std::size_t>(cell)];
    });
}

void histograms_from::forwards(unit_id later, lag_histogram& out) const {
    const std::uint32_t* const within = inside(later) + (middle_ - grid_.before);
    const std::uint32_t* const at = at_bounds(later) + (middle_ - grid_.before + 1);
    out.resize(grid_.size);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(within[i] + at[i]);
}

void histograms_from::backwards(unit_id later, lag_histogram& out) const {
    const std::uint32_t* const within = inside(later) + (middle_ + grid_.before - 1);
    const std::uint32_t* const at = at_bounds(later) + (middle_ + grid_.before - 1);
    out.resize(grid_.size);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto back = static_cast<std::ptrdiff_t>(i);
        out[i] = static_cast<double>(within[-back] + at[-back]);
    }
}

}  // namespace spikeweave::assess
