#include "record/motion/register.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "parallel/parallel_for.hpp"

namespace spikeweave::record {
namespace {

constexpr double longest_um = 100;

// 1, 2, 3 and so on, then a tenth more each time.
std::vector<std::size_t> lags_below(std::size_t times) {
    std::vector<std::size_t> lags;
    for (std::size_t lag = 1; lag < times; lag = std::max(lag + 1, lag * 11 / 10))
        lags.push_back(lag);
    return lags;
}

// Sums of squares of the rows.
std::vector<double> energies_of(std::span<const float> histogram, std::size_t columns) {
    std::vector<double> sums;
    for (std::size_t at = 0; at < histogram.size(); at += columns) {
        double sum = 0;
        for (std::size_t a = 0; a < columns; ++a)
            sum += static_cast<double>(histogram[at + a]) * static_cast<double>(histogram[at + a]);
        sums.push_back(sum);
    }
    return sums;
}

// The rows that a window sees, and their weights.
struct seen_rows {
    std::size_t begin = 0;
    std::vector<float> weights{};
};

seen_rows rows_of(const motion_histograms& from, const depth_window& window) {
    constexpr float least = 0.01F;
    std::vector<float> all;
    for (std::size_t d = 0; d < from.depths; ++d) {
        const double away = (from.depth_of(d) - window.middle_um) / window.width_um;
        all.push_back(static_cast<float>(std::exp(-away * away / 2)));
    }
    const auto seen = [](float weight) { return weight >= least; };
    const auto first = std::find_if(all.begin(), all.end(), seen);
    const auto last = std::find_if(all.rbegin(), all.rend(), seen).base();
    return {static_cast<std::size_t>(first - all.begin()), {first, std::max(first, last)}};
}

double product_of(std::span<const float> a, std::span<const float> b) {
    constexpr std::size_t together = 8;
    float sums[together]{};
    std::size_t i = 0;
    for (; i + together <= a.size(); i += together)
        for (std::size_t k = 0; k < together; ++k) sums[k] += a[i + k] * b[i + k];
    double sum = 0;
    for (const float part : sums) sum += part;
    for (; i < a.size(); ++i) sum += static_cast<double>(a[i] * b[i]);
    return sum;
}

// The part of one time bin within a window.
struct window_view {
    const seen_rows& rows;
    std::vector<float> weighted{};
    std::span<const double> energies{};
    double energy = 0;  ///< of all rows, weighted
};

window_view view_of(const motion_histograms& from, std::size_t time, const seen_rows& rows,
                    const std::vector<double>& energies) {
    window_view out{rows, {}, std::span{energies}.subspan(rows.begin, rows.weights.size())};
    const std::span<const float> values =
        from.of(time).subspan(rows.begin * from.amplitudes, rows.weights.size() * from.amplitudes);
    out.weighted.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < out.weighted.size(); ++i)
        out.weighted[i] *= rows.weights[i / from.amplitudes];
    for (std::size_t d = 0; d < rows.weights.size(); ++d)
        out.energy += static_cast<double>(rows.weights[d]) * out.energies[d];
    return out;
}

// The correlation of what a window sees with another histogram `shift` rows above. Spikes that have
// left the probe do not count, unless they are most of them.
double correlation_at(std::ptrdiff_t shift, const window_view& a, std::span<const float> b,
                      const std::vector<double>& energies, std::size_t columns) {
    constexpr double least_seen = 0.5;
    const auto rows = static_cast<std::ptrdiff_t>(a.energies.size());
    const auto all = static_cast<std::ptrdiff_t>(energies.size());
    const auto first = static_cast<std::ptrdiff_t>(a.rows.begin) + shift;
    const std::ptrdiff_t skipped = std::max<std::ptrdiff_t>(0, -first);
    const std::ptrdiff_t kept = std::min(rows, all - first);
    if (kept <= skipped) return 0;
    const auto from = static_cast<std::size_t>(skipped);
    const auto size = static_cast<std::size_t>(kept - skipped);
    const auto at = static_cast<std::size_t>(first + skipped);
    double own = 0;
    double other = 0;
    for (std::size_t d = 0; d < size; ++d) {
        const auto weight = static_cast<double>(a.rows.weights[from + d]);
        own += weight * a.energies[from + d];
        other += weight * energies[at + d];
    }
    own = std::max(own, least_seen * a.energy);
    if (!(own > 0) || !(other > 0)) return 0;
    const double sum = product_of(std::span{a.weighted}.subspan(from * columns, size * columns),
                                  b.subspan(at * columns, size * columns));
    return sum / std::sqrt(own * other);
}

// The highest correlation, between shifts by a parabola through its neighbours.
pair_displacement best_of(const std::vector<double>& correlations, double step_um) {
    const auto most = std::max_element(correlations.begin(), correlations.end());
    double mean = 0;
    for (const double one : correlations) mean += one / static_cast<double>(correlations.size());
    double between = 0;
    if (most != correlations.begin() && most + 1 != correlations.end()) {
        const double bend = most[-1] - 2 * most[0] + most[1];
        if (bend < 0) between = (most[-1] - most[1]) / (2 * bend);
    }
    const auto middle = static_cast<std::ptrdiff_t>(correlations.size() / 2);
    const auto away = static_cast<double>(most - correlations.begin() - middle);
    const double prominence = *most - mean;
    return {0, 0, (away + between) * step_um, prominence * prominence};
}

// The pairs of one earlier time bin.
std::vector<pair_displacement> pairs_of(std::size_t earlier, const motion_histograms& from,
                                        const seen_rows& rows,
                                        const std::vector<std::vector<double>>& energies,
                                        const std::vector<std::size_t>& lags) {
    const auto reach = static_cast<std::ptrdiff_t>(
        std::min(longest_um / from.depth_bin_um, static_cast<double>(from.depths) / 2));
    const window_view own = view_of(from, earlier, rows, energies[earlier]);
    std::vector<pair_displacement> out;
    if (!(own.energy > 0)) return out;
    std::vector<double> correlations(static_cast<std::size_t>(2 * reach + 1));
    for (const std::size_t lag : lags) {
        const std::size_t later = earlier + lag;
        if (later >= from.times) break;
        for (std::ptrdiff_t shift = -reach; shift <= reach; ++shift)
            correlations[static_cast<std::size_t>(shift + reach)] =
                correlation_at(shift, own, from.of(later), energies[later], from.amplitudes);
        pair_displacement pair = best_of(correlations, from.depth_bin_um);
        pair.earlier = static_cast<std::uint32_t>(earlier);
        pair.later = static_cast<std::uint32_t>(later);
        if (pair.weight > 0) out.push_back(pair);
    }
    return out;
}

}  // namespace

std::vector<std::vector<pair_displacement>> displacements_of(
    const motion_histograms& from, const std::vector<depth_window>& windows, const execution& run) {
    const std::vector<std::size_t> lags = lags_below(from.times);
    std::vector<std::vector<double>> energies(from.times);
    for (std::size_t t = 0; t < from.times; ++t)
        energies[t] = energies_of(from.of(t), from.amplitudes);
    std::vector<std::vector<pair_displacement>> out;
    for (const depth_window& each : windows) {
        const seen_rows rows = rows_of(from, each);
        std::vector<std::vector<pair_displacement>> by_time(from.times);
        parallel::parallel_for(from.times, run, "motion", [&](std::size_t i) {
            by_time[i] = pairs_of(i, from, rows, energies, lags);
        });
        std::vector<pair_displacement>& all = out.emplace_back();
        for (const auto& some : by_time) all.insert(all.end(), some.begin(), some.end());
    }
    return out;
}

}  // namespace spikeweave::record
