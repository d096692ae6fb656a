#include "assess/episodes/shared_rates.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {
namespace {

constexpr std::int64_t shortest_rate_bin_us = 100'000;
constexpr std::int64_t most_rate_bins = 1'000'000;

double variance_of(const std::vector<double>& counts) {
    double sum = 0;
    double squares = 0;
    for (const double count : counts) {
        sum += count;
        squares += count * count;
    }
    const auto n = static_cast<double>(counts.size());
    return squares / n - (sum / n) * (sum / n);
}

}  // namespace

shared_rates measure_shared_rates(const spike_sequence& spikes) {
    const std::int64_t begin = spikes.span().begin.count();
    const std::int64_t length = spikes.span().length().count();
    const std::int64_t bin_us = std::max(shortest_rate_bin_us, length / most_rate_bins);
    // Only whole bins are used: a shorter one at the end would hold fewer spikes of every unit.
    const auto bins = static_cast<std::size_t>(length / bin_us);
    if (bins < 2) return {1, false};
    const spike_trains trains(spikes);
    std::vector<double> all(bins);
    double apart = 0;
    for (std::uint32_t u = 0; u < trains.unit_count(); ++u) {
        std::vector<double> one(bins);
        for (const std::int64_t t : trains.times_us(unit_id{u}))
            if (const auto bin = static_cast<std::size_t>((t - begin) / bin_us); bin < bins) {
                ++one[bin];
                ++all[bin];
            }
        apart += variance_of(one);
    }
    if (!(apart > 0)) return {1, false};
    const double ratio = variance_of(all) / apart;
    const double error = std::sqrt(2.0 / static_cast<double>(bins));
    constexpr double matters = 1.5;
    constexpr double errors = 5;
    return {ratio, ratio > matters && ratio > 1 + errors * error};
}

}  // namespace spikeweave::assess
