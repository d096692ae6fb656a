#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "sort/templates/coincidences.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/quality.hpp"

namespace spikeweave {
namespace {

// A histogram has five spikes a bin on average.
constexpr std::size_t spikes_per_bin = 5;
constexpr std::size_t fewest_bins = 16;
constexpr std::size_t most_bins = 100;

// By a Gaussian of 3 % of the range; the histogram is mirrored at its ends.
std::vector<double> smoothed(const std::vector<double>& histogram) {
    constexpr double share = 0.03;
    constexpr std::size_t reach = 12;
    const std::size_t size = histogram.size();
    const double deviation = std::max(0.5, share * static_cast<double>(size));
    std::array<double, 2 * reach + 1> weights{};
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const double apart = (static_cast<double>(k) - reach) / deviation;
        weights[k] = std::exp(-apart * apart / 2);
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> out(size);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < weights.size(); ++k) {
            std::size_t from = i + k < reach ? reach - (i + k) - 1 : i + k - reach;
            if (from >= size) from = 2 * size - from - 1;
            out[i] += weights[k] / sum * histogram[from];
        }
    return out;
}

// The share of a unit's height that another one reaches where that is largest, if the two may be
// one neuron.
constexpr double least_shared_height = 0.25;

// The mean waveforms of the units and where they are largest.
class unit_shapes {
public:
    explicit unit_shapes(const mean_waveforms& waveforms) : waveforms_(&waveforms) {
        for (std::size_t u = 1; u < waveforms.group_count(); ++u) {
            std::vector<double> heights(waveforms.channel_count);
            double squares = 0;
            const std::span<const float> values = waveforms.of(u);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double value = values[i];
                double& height = heights[i % heights.size()];
                height = std::max(height, std::abs(value));
                squares += value * value;
            }
            peaks_.push_back(
                static_cast<std::size_t>(std::ranges::max_element(heights) - heights.begin()));
            heights_.push_back(std::move(heights));
            norms_.push_back(std::sqrt(squares));
        }
    }

    double height(std::size_t unit) const { return heights_[unit][peaks_[unit]]; }

    // The largest correlation over lags; 0 of units far from each other, which are not compared
    // sample by sample: neither has this share of its height where the other one is largest.
    double similarity(std::size_t a, std::size_t b, double least_height) const {
        constexpr int most_lag = 6;
        if (heights_[a][peaks_[b]] < least_height * height(a) ||
            heights_[b][peaks_[a]] < least_height * height(b))
            return 0;
        double most = 0;
        for (int lag = -most_lag; lag <= most_lag; ++lag) most = std::max(most, product(a, b, lag));
        return most / std::max(norms_[a] * norms_[b], 1e-12);
    }

    // Whether spikes of `other` have this share of the unit's height where that is largest.
    bool is_reached(std::size_t unit, std::size_t other, double share) const {
        return heights_[other][peaks_[unit]] >= share * height(unit);
    }

    bool are_alike(std::size_t a, std::size_t b) const {
        constexpr double least_correlation = 0.95;
        return similarity(a, b, 0.5) >= least_correlation;
    }

    // Whether spikes of one are large enough, where the other one's are largest, for what
    // subtraction leaves of them to be taken for these.
    bool overlap(std::size_t a, std::size_t b) const {
        return heights_[a][peaks_[b]] >= height(b) / 2 || heights_[b][peaks_[a]] >= height(a) / 2;
    }

private:
    double product(std::size_t a, std::size_t b, int lag) const {
        const auto later = static_cast<std::size_t>(std::abs(lag)) * waveforms_->channel_count;
        const std::span<const float> first = waveforms_->of(lag < 0 ? b + 1 : a + 1);
        const std::span<const float> second = waveforms_->of(lag < 0 ? a + 1 : b + 1);
        if (later >= first.size()) return 0;
        return std::inner_product(first.begin() + static_cast<std::ptrdiff_t>(later), first.end(),
                                  second.begin(), 0.0);
    }

    const mean_waveforms* waveforms_;
    std::vector<std::vector<double>> heights_{};
    std::vector<std::size_t> peaks_{};
    std::vector<double> norms_{};
};

void find_parts_of_neurons(const unit_shapes& shapes,
                           const std::vector<std::vector<std::int64_t>>& times,
                           std::span<unit_quality> quality) {
    // The larger one of two still has most spikes of the neuron if the other one has fewer than
    // this share of them. If they only may be one neuron, one so small is nearly always a part.
    constexpr double small_part = 0.2;
    for (std::size_t a = 0; a < times.size(); ++a)
        for (std::size_t b = a + 1; b < times.size(); ++b) {
            if (times[a].empty() || times[b].empty()) continue;
            const std::size_t less = times[a].size() < times[b].size() ? a : b;
            const std::size_t more = less == a ? b : a;
            const auto both = static_cast<double>(times[a].size() + times[b].size());
            const double share = static_cast<double>(times[less].size()) / both;
            const bool are_parts =
                shapes.are_alike(a, b) && share_refractory_period(times[a], times[b]);
            if (!are_parts && (share > small_part ||
                               !may_be_one_neuron(shapes.similarity(a, b, least_shared_height),
                                                  times[a], times[b])))
                continue;
            quality[less].same_neuron_as = static_cast<std::uint32_t>(more + 1);
            if (are_parts && share > small_part)
                quality[more].same_neuron_as = static_cast<std::uint32_t>(less + 1);
        }
}

// The times of the spikes of each unit, ascending, in microseconds.
std::vector<std::vector<std::int64_t>> times_of_units(const sorting& sorted) {
    std::vector<std::vector<std::int64_t>> out(sorted.unit_count);
    for (std::size_t n = 0; n < sorted.samples.size(); ++n)
        if (sorted.labels[n] > 0)
            out[sorted.labels[n] - 1].push_back(
                std::llround(static_cast<double>(sorted.samples[n]) * 1e6 / sorted.sample_rate));
    for (auto& times : out) std::ranges::sort(times);
    return out;
}

bool is_beside(std::int64_t time, const std::vector<std::int64_t>& others, std::int64_t most) {
    const auto next = std::ranges::lower_bound(others, time - most);
    return next != others.end() && *next <= time + most;
}

// Where other neurons collide, what fits none of them well is taken for two spikes of one unit more
// often than an independent neuron fires there.
void count_isolated_pairs(const unit_shapes& shapes,
                          const std::vector<std::vector<std::int64_t>>& times, duration refractory,
                          std::span<unit_quality> quality) {
    constexpr double least_height = 0.25;
    constexpr std::int64_t beside_us = 1000;
    for (std::size_t u = 0; u < times.size(); ++u) {
        std::vector<std::int64_t> others;
        for (std::size_t v = 0; v < times.size(); ++v)
            if (v != u && shapes.is_reached(u, v, least_height))
                others.insert(others.end(), times[v].begin(), times[v].end());
        std::ranges::sort(others);
        std::vector<std::int64_t> isolated;
        for (const std::int64_t time : times[u])
            if (!is_beside(time, others, beside_us)) isolated.push_back(time);
        const double share = static_cast<double>(isolated.size()) /
                             static_cast<double>(std::max<std::size_t>(times[u].size(), 1));
        // Each spike is also a pair with itself, and the others count from both sides.
        quality[u].isolated_pairs =
            (templates::count_pairs(isolated, isolated, 0, refractory.count() - 1) -
             isolated.size()) /
            2;
        quality[u].expected_isolated_pairs = share * share * quality[u].expected_pairs;
    }
}

double median_of(std::vector<float> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const double upper = *middle;
    if (values.size() % 2 == 1) return upper;
    return (upper + *std::max_element(values.begin(), middle)) / 2;
}

double deviation_of(const std::vector<float>& values) {
    const auto size = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / size;
    double squares = 0;
    for (const float value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / size);
}

}  // namespace

std::optional<double> amplitude_cutoff(std::span<const float> amplitudes) {
    if (amplitudes.size() < fewest_bins * spikes_per_bin) return {};
    const std::size_t bins = std::min(most_bins, amplitudes.size() / spikes_per_bin);
    const auto [least, most] = std::ranges::minmax_element(amplitudes);
    const double low = *least;
    const double width = (*most - low) / static_cast<double>(bins);
    if (!(width > 0)) return {};
    std::vector<double> histogram(bins);
    for (const float amplitude : amplitudes)
        ++histogram[std::min(static_cast<std::size_t>((amplitude - low) / width), bins - 1)];
    const std::vector<double> density = smoothed(histogram);
    const auto peak = std::ranges::max_element(density);
    const auto end = std::min_element(peak, density.end(), [&](double a, double b) {
        return std::abs(a - density.front()) < std::abs(b - density.front());
    });
    const double missing = std::accumulate(end, density.end(), 0.0);
    return std::min(0.5, missing / static_cast<double>(amplitudes.size()));
}

void measure_waveforms(const mean_waveforms& waveforms, const sorting& sorted,
                       std::span<const float> amplitudes, std::span<unit_quality> quality,
                       const quality_options& options) {
    const std::size_t units = sorted.unit_count;
    if (quality.size() != units || waveforms.group_count() != units + 1)
        throw invalid_argument(fmt::format("there are mean waveforms of {} groups, and {} units",
                                           waveforms.group_count(), quality.size()));
    if (!amplitudes.empty() && amplitudes.size() != sorted.labels.size())
        throw invalid_argument(fmt::format("there are {} amplitudes for {} spikes",
                                           amplitudes.size(), sorted.labels.size()));
    const unit_shapes shapes(waveforms);
    std::vector<std::vector<float>> own(units);
    for (std::size_t n = 0; n < sorted.labels.size(); ++n) {
        if (sorted.labels[n] == 0) continue;
        if (!amplitudes.empty()) own[sorted.labels[n] - 1].push_back(amplitudes[n]);
    }
    for (std::size_t u = 0; u < units; ++u) {
        quality[u].snr = waveforms.signal_to_noise(u + 1);
        if (own[u].empty()) continue;
        const double median = median_of(own[u]);
        quality[u].amplitude_median = median * shapes.height(u);
        if (median > 0) quality[u].amplitude_cv = deviation_of(own[u]) / median;
        quality[u].amplitude_cutoff = amplitude_cutoff(own[u]);
    }
    if (!sorted.has_times()) return;
    const std::vector<std::vector<std::int64_t>> times = times_of_units(sorted);
    find_parts_of_neurons(shapes, times, quality);
    count_isolated_pairs(shapes, times, options.refractory, quality);
}

std::vector<doubtful_pair> find_doubtful_units(const mean_waveforms& waveforms,
                                               const sorting& sorted) {
    if (waveforms.group_count() != std::size_t{sorted.unit_count} + 1)
        throw invalid_argument(fmt::format("there are mean waveforms of {} groups, and {} units",
                                           waveforms.group_count(), sorted.unit_count));
    std::vector<doubtful_pair> out;
    if (!sorted.has_times()) return out;
    const unit_shapes shapes(waveforms);
    const std::vector<std::vector<std::int64_t>> times = times_of_units(sorted);
    for (std::size_t a = 0; a < times.size(); ++a)
        for (std::size_t b = a + 1; b < times.size(); ++b) {
            const auto add = [&](unit_doubt why) {
                out.push_back({std::to_string(a + 1), std::to_string(b + 1), why});
            };
            if (may_be_one_neuron(shapes.similarity(a, b, least_shared_height), times[a], times[b]))
                add(unit_doubt::one_neuron);
            else if (shapes.overlap(a, b) && may_be_cross_talk(times[a], times[b]))
                add(unit_doubt::cross_talk);
        }
    return out;
}

}  // namespace spikeweave
