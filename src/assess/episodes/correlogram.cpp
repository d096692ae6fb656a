#include "spikeweave/assess/episodes/correlogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assess/episodes/lag_counts.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {

using assess::check_unit;
using assess::lag_counts;

namespace {

void check_lags(const spike_sequence& spikes, std::span<const lags_of_pair> pairs) {
    for (const auto& [from, to, bins] : pairs) {
        check_unit(spikes, from);
        check_unit(spikes, to);
        if (bins.width <= duration{0} || bins.each_side == 0)
            throw invalid_argument(
                fmt::format("bins of lags need a width and a number, not {} and {}",
                            format_duration(bins.width), bins.each_side));
    }
}

std::vector<std::uint64_t> counted(const lag_counts& pairs, const lag_bins& bins) {
    std::vector<std::uint64_t> out(2 * bins.each_side, 0);
    const std::int64_t reach = bins.reach().count();
    pairs.each(-reach, reach, [&](std::int64_t lag) {
        ++out[static_cast<std::size_t>((lag + reach - 1) / bins.width.count())];
    });
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
    check_lags(spikes, pairs);
    std::vector<std::vector<std::uint64_t>> out(pairs.size());
    duration reach{0};
    for (const lags_of_pair& pair : pairs) reach = std::max(reach, pair.bins.reach());
    const separated_epochs separated(spikes, reach);
    const spike_trains trains(separated.spikes());
    parallel::parallel_for(pairs.size(), run, "correlograms", [&](std::size_t i) {
        const auto& [from, to, bins] = pairs[i];
        out[i] = counted({trains.times_us(from), trains.times_us(to), from == to}, bins);
    });
    return out;
}

}  // namespace spikeweave
