#include "assess/episodes/lag_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/near_spikes.hpp"

namespace spikeweave::assess {
namespace {

// Bins are at most this wide, or a sixteenth of the narrowest window; it has at least four bins.
constexpr std::int64_t wide_bin_us = 500;
constexpr std::int64_t bins_a_wide_window = 16;
constexpr std::int64_t bins_a_window = 4;
// Windows whose bounds have no common divisor that is as long are rounded to such bins.
constexpr std::int64_t narrowest_bin_us = 50;
// Bins of longer lags are computed, because their table would not stay in the cache.
constexpr std::int64_t longest_table_us = 200'000;

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

}  // namespace

std::int64_t lag_grid::bin_of(std::int64_t lag_us) const {
    // A lag on a clock is rounded; times and the step of the clock are exact to a microsecond.
    if (on_clock)
        return before - 1 +
               static_cast<std::int64_t>(std::ceil(static_cast<double>(lag_us) / width_us - 0.5));
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
    lag_histogram out(grid.size, 0);
    const std::int64_t reach = grid.reach_us();
    auto first = to.begin();
    for (const std::int64_t time : from) {
        while (first != to.end() && *first < time - reach) ++first;
        for (auto at = first; at != to.end() && *at <= time + reach; ++at) {
            const std::int64_t bin = grid.bin_of(*at - time);
            if (bin >= 0 && bin < static_cast<std::int64_t>(out.size()))
                ++out[static_cast<std::size_t>(bin)];
        }
    }
    return out;
}

bins_of_lags::bins_of_lags(const lag_grid& grid) : grid_(grid), reach_us_(grid.reach_us()) {
    if (reach_us_ > longest_table_us) return;
    std::vector<std::size_t> table;
    for (std::int64_t lag = -reach_us_; lag <= reach_us_; ++lag) table.push_back(computed(lag));
    table_ = std::move(table);
}

std::size_t bins_of_lags::computed(std::int64_t lag_us) const {
    const std::int64_t bin = grid_.bin_of(lag_us);
    const bool is_in = bin >= 0 && bin < static_cast<std::int64_t>(grid_.size);
    return is_in ? static_cast<std::size_t>(bin) : outside;
}

histograms_from::histograms_from(const spike_sequence& spikes, const spike_trains& trains,
                                 const bins_of_lags& bins)
    : spikes_(spikes),
      trains_(trains),
      bins_(bins),
      forwards_(spikes.unit_count() * bins.grid().size),
      backwards_(forwards_.size()) {}

void histograms_from::add(unit_id unit, std::int64_t lag) {
    const std::size_t row = to_index(unit) * bins_.grid().size;
    if (const std::size_t bin = bins_.of(lag); bin != bins_of_lags::outside) ++forwards_[row + bin];
    if (const std::size_t bin = bins_.of(-lag); bin != bins_of_lags::outside)
        ++backwards_[row + bin];
}

void histograms_from::count(unit_id unit) {
    std::ranges::fill(forwards_, 0);
    std::ranges::fill(backwards_, 0);
    const auto times = spikes_.times_us();
    const auto units = spikes_.units();
    const auto positions = trains_.positions(unit);
    const std::int64_t reach = bins_.reach_us();
    core::near_spikes(times, units, positions)
        .each(-reach, reach, [&](std::size_t n, std::size_t i) {
            if (units[i] > unit) add(units[i], times[i] - times[positions[n]]);
        });
}

}  // namespace spikeweave::assess
