#include "spikeweave/assess/shared_rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {
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

using thirds = std::array<double, 3>;

double squares_about_mean(const thirds& counts) {
    const double mean = (counts[0] + counts[1] + counts[2]) / 3;
    double out = 0;
    for (const double count : counts) out += (count - mean) * (count - mean);
    return out;
}

// Adds up cells. The excess of all units together over the sum of the single ones has a mean of 0
// in every cell if the units are independent there, so its squares give the error, whatever the
// rates are.
class cell_sums {
public:
    void add(std::vector<std::pair<unit_id, std::size_t>>& cell) {
        std::sort(cell.begin(), cell.end());
        thirds all{};
        double units = 0;
        for (auto at = cell.begin(); at != cell.end();) {
            thirds one{};
            const unit_id unit = at->first;
            for (; at != cell.end() && at->first == unit; ++at) ++one[at->second];
            units += squares_about_mean(one);
            for (std::size_t k = 0; k < all.size(); ++k) all[k] += one[k];
        }
        cell.clear();
        const double beyond = squares_about_mean(all) - units;
        apart_ += units;
        beyond_ += beyond;
        squared_ += beyond * beyond;
    }

    shared_rates result() const {
        if (!(apart_ > 0)) return {1, false};
        constexpr double matters = 2;
        constexpr double errors = 3;
        const double ratio = 1 + beyond_ / apart_;
        return {ratio, ratio > matters && beyond_ > errors * std::sqrt(squared_)};
    }

private:
    double apart_ = 0;
    double beyond_ = 0;
    double squared_ = 0;
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

shared_rates measure_rates_within_cells(const spike_sequence& spikes, duration width) {
    const std::int64_t third = std::max<std::int64_t>(1, width.count() / 3);
    const std::vector<time_span> observed = spikes.observed();
    std::vector<std::pair<unit_id, std::size_t>> cell;
    cell_sums sums;
    std::size_t at = 0;
    std::int64_t number = 0;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::int64_t time = spikes.times_us()[i];
        const std::size_t before = at;
        while (observed[at].end.count() < time) ++at;
        const std::int64_t since = time - observed[at].begin.count();
        const std::int64_t here = since / (3 * third);
        if (here != number || at != before) sums.add(cell);
        number = here;
        // A cell that the interval of time cuts off has unequal thirds.
        if ((here + 1) * 3 * third > observed[at].length().count() + 1) continue;
        cell.emplace_back(spikes.units()[i], static_cast<std::size_t>(since / third % 3));
    }
    sums.add(cell);
    return sums.result();
}

}  // namespace spikeweave
