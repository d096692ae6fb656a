#include "assess/episodes/shared_rates.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {
namespace {

constexpr std::int64_t rate_bin_us = 100'000;
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

// Only whole bins are used: a shorter one at the end would hold fewer spikes of every unit.
struct whole_bins {
    explicit whole_bins(const spike_sequence& spikes) : observed(spikes.observed()) {
        std::int64_t shortest = rate_bin_us;
        for (const time_span& one : observed)
            shortest = std::min(shortest, std::max<std::int64_t>(1, one.length().count()));
        bin_us = std::max(shortest, spikes.observed_time().count() / most_rate_bins);
        for (const time_span& one : observed) {
            first.push_back(number);
            number += one.length().count() / bin_us;
        }
    }

    std::vector<time_span> observed;
    std::int64_t bin_us = 1;
    std::vector<std::int64_t> first{};  // bin of each interval
    std::int64_t number = 0;
};

}  // namespace

shared_rates measure_shared_rates(const spike_sequence& spikes) {
    const whole_bins grid(spikes);
    const auto bins = static_cast<std::size_t>(grid.number);
    if (bins < 2) return {1, false};
    const spike_trains trains(spikes);
    std::vector<double> all(bins);
    double apart = 0;
    for (std::uint32_t u = 0; u < trains.unit_count(); ++u) {
        std::vector<double> one(bins);
        std::size_t at = 0;
        for (const std::int64_t t : trains.times_us(unit_id{u})) {
            while (grid.observed[at].end.count() < t) ++at;
            const std::int64_t bin =
                grid.first[at] + (t - grid.observed[at].begin.count()) / grid.bin_us;
            const std::int64_t end = at + 1 < grid.first.size() ? grid.first[at + 1] : grid.number;
            if (bin >= end) continue;
            ++one[static_cast<std::size_t>(bin)];
            ++all[static_cast<std::size_t>(bin)];
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
