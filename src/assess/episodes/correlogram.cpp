#include "spikeweave/assess/episodes/correlogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "assess/episodes/each_lag.hpp"
#include "assess/episodes/window_test.hpp"
#include "core/spike_walks.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes/options.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {

using assess::check_unit;
using assess::each_lag;

namespace {

void check_lags(const spike_sequence& spikes, const lags_of_pair& pair) {
    check_unit(spikes, pair.from);
    check_unit(spikes, pair.to);
    if (pair.bins.width <= duration{0} || pair.bins.each_side == 0)
        throw invalid_argument(fmt::format("bins of lags need a width and a number, not {} and {}",
                                           format_duration(pair.bins.width), pair.bins.each_side));
}

using time_list = std::span<const std::int64_t>;

std::vector<std::uint64_t> counted(time_list from, time_list to, const lag_bins& bins) {
    std::vector<std::uint64_t> out(2 * bins.each_side, 0);
    const std::int64_t reach = bins.reach().count();
    const core::divisor width(bins.width.count());
    each_lag(from, to, -reach, reach, [&](std::int64_t lag) {
        ++out[static_cast<std::size_t>(width.quotient(lag + reach - 1))];
    });
    return out;
}

edge_correlogram correlogram_of(time_list from, time_list to, const tested_lags& tested,
                                duration cell) {
    constexpr std::int64_t steps_a_bin = 20;
    const lag_bins& bins = tested.pair.bins;
    const std::int64_t width = bins.width.count();
    const std::int64_t length = (tested.window.high - tested.window.low).count();
    const std::int64_t side = cell.count() / 2;
    const std::int64_t step = std::max<std::int64_t>(1, width / steps_a_bin);
    const std::int64_t reach = bins.reach().count() + length + side;
    std::vector<std::uint64_t> up_to(static_cast<std::size_t>(2 * reach / step) + 2, 0);
    // As many bins as reach so far, because a branch would cost more than those that are not used.
    const std::int64_t bins_beyond = (length + side) / width + 1;
    std::vector<std::uint64_t> all(2 * (bins.each_side + static_cast<std::size_t>(bins_beyond)), 0);
    const std::int64_t reach_of_all = bins.reach().count() + bins_beyond * width;
    const core::divisor steps(step);
    const core::divisor widths(width);
    const auto index_of = [&](std::int64_t lag) {
        return static_cast<std::size_t>(steps.quotient(lag + reach));
    };
    each_lag(from, to, -reach, reach, [&](std::int64_t lag) {
        ++up_to[index_of(lag + step - 1)];
        ++all[static_cast<std::size_t>(widths.quotient(lag + reach_of_all - 1))];
    });
    std::partial_sum(up_to.begin(), up_to.end(), up_to.begin());
    const auto number_in = [&](std::int64_t low, std::int64_t high) {
        return up_to[index_of(high)] - up_to[index_of(low)];
    };
    const double share = static_cast<double>(width) / static_cast<double>(2 * side);
    edge_correlogram out{{all.begin() + bins_beyond, all.end() - bins_beyond}, {}};
    for (std::size_t i = 0; i < out.counts.size(); ++i) {
        const std::int64_t middle =
            static_cast<std::int64_t>(i) * width + width / 2 - bins.reach().count();
        const std::int64_t low = middle - length / 2;
        const std::uint64_t beside =
            number_in(low - side, low + length + side) - number_in(low, low + length);
        out.expected.push_back(share * static_cast<double>(beside));
    }
    return out;
}

}  // namespace

lag_bins bins_for(const delay_interval& delay) {
    using namespace std::chrono_literals;
    constexpr std::array<duration, 12> widths{100us, 200us, 500us, 1ms,   2ms, 5ms,
                                              10ms,  20ms,  50ms,  100ms, 1s,  10s};
    lag_bins out;
    const duration least = std::max<duration>(10ms, 3 * delay.high);
    const auto number = static_cast<std::int64_t>(out.each_side);
    const auto* const found =
        std::ranges::find_if(widths, [&](duration width) { return width * number >= least; });
    out.width = found != widths.end() ? *found : (least + duration{number - 1}) / number;
    return out;
}

std::vector<std::vector<std::uint64_t>> cross_correlograms(const spike_sequence& spikes,
                                                           std::span<const lags_of_pair> pairs,
                                                           const execution& run) {
    std::vector<std::vector<std::uint64_t>> out(pairs.size());
    duration reach{0};
    for (const lags_of_pair& pair : pairs) {
        check_lags(spikes, pair);
        reach = std::max(reach, pair.bins.reach());
    }
    const separated_epochs separated(spikes, reach);
    const spike_trains trains(separated.spikes());
    parallel::parallel_for(pairs.size(), run, "correlograms", [&](std::size_t i) {
        const auto& [from, to, bins] = pairs[i];
        out[i] = counted(trains.times_us(from), trains.times_us(to), bins);
    });
    return out;
}

std::vector<edge_correlogram> edge_correlograms(const spike_sequence& spikes,
                                                std::span<const tested_lags> pairs,
                                                duration jitter_window, const execution& run) {
    check_options(significance_options{.jitter_window = jitter_window});
    std::vector<edge_correlogram> out(pairs.size());
    duration reach{0};
    for (const auto& [pair, window, sign] : pairs) {
        check_lags(spikes, pair);
        if (window.high <= window.low) throw invalid_argument("a window of lags is empty");
        reach = std::max(reach, pair.bins.reach() + window.high - window.low +
                                    assess::cell_for(window, sign, jitter_window));
    }
    const separated_epochs separated(spikes, reach);
    const spike_trains trains(separated.spikes());
    parallel::parallel_for(pairs.size(), run, "correlograms", [&](std::size_t i) {
        const auto& [pair, window, sign] = pairs[i];
        out[i] = correlogram_of(trains.times_us(pair.from), trains.times_us(pair.to), pairs[i],
                                assess::cell_for(window, sign, jitter_window));
    });
    return out;
}

}  // namespace spikeweave
