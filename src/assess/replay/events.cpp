// Population events. All sums are whole numbers, so that they do not depend on their order.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "spikeweave/assess/replay.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

constexpr std::int64_t bin_us = 5000;
constexpr std::int64_t smoothing_bins = 6;  // half the width of the triangle

// Smooths by two boxes one after another, which make the triangle: each sum moves on with its box.
std::vector<std::uint64_t> smoothed(const std::vector<std::uint64_t>& counts) {
    const auto size = static_cast<std::int64_t>(counts.size());
    const auto at = [size](const auto& values, std::int64_t i) {
        return i >= 0 && i < size ? values[static_cast<std::size_t>(i)] : 0;
    };
    std::vector<std::uint64_t> once(counts.size() + smoothing_bins);
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < size + smoothing_bins; ++i)
        once[static_cast<std::size_t>(i)] = sum += at(counts, i) - at(counts, i - smoothing_bins);
    std::vector<std::uint64_t> twice(counts.size());
    sum = 0;
    for (std::int64_t i = 0; i < smoothing_bins - 1; ++i) sum += once[static_cast<std::size_t>(i)];
    for (std::int64_t i = 0; i < size; ++i) {
        sum += once[static_cast<std::size_t>(i + smoothing_bins - 1)];
        twice[static_cast<std::size_t>(i)] = sum;
        sum -= once[static_cast<std::size_t>(i)];
    }
    return twice;
}

std::vector<std::uint64_t> bins_of(const spike_sequence& spikes, const time_span& observed) {
    std::vector<std::uint64_t> counts(
        static_cast<std::size_t>(observed.length().count() / bin_us + 1));
    const auto times = spikes.times_us();
    const auto first = std::ranges::lower_bound(times, observed.begin.count());
    const auto end = std::upper_bound(first, times.end(), observed.end.count());
    for (auto t = first; t != end; ++t)
        ++counts[static_cast<std::size_t>((*t - observed.begin.count()) / bin_us)];
    return smoothed(counts);
}

struct event_levels {
    double mean;
    double peak;
};

event_levels levels_of(const std::vector<std::vector<std::uint64_t>>& parts, double deviations) {
    double sum = 0;
    double squares = 0;
    double bins = 0;
    for (const auto& part : parts)
        for (const std::uint64_t value : part) {
            const auto x = static_cast<double>(value);
            sum += x;
            squares += x * x;
            ++bins;
        }
    const double mean = sum / bins;
    return {mean, mean + deviations * std::sqrt(std::max(0.0, squares / bins - mean * mean))};
}

}  // namespace

std::vector<time_span> find_population_events(const spike_sequence& spikes,
                                              const population_event_options& options) {
    check_options(options);
    if (options.longest < options.shortest)
        throw invalid_argument("event_max", "it is shorter than `event_min`");
    std::vector<time_span> found;
    if (spikes.empty()) return found;
    const std::vector<time_span> observed = spikes.observed();
    std::vector<std::vector<std::uint64_t>> parts;
    parts.reserve(observed.size());
    for (const time_span& one : observed) parts.push_back(bins_of(spikes, one));
    const auto [mean, peak] = levels_of(parts, options.threshold);
    const auto is_above = [level = mean](std::uint64_t value) {
        return static_cast<double>(value) > level;
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& part = parts[i];
        const duration last = observed[i].end + duration{1};
        for (auto at = part.begin(); at != part.end();) {
            const auto begin = std::find_if(at, part.end(), is_above);
            const auto end = at = std::find_if_not(begin, part.end(), is_above);
            if (begin == end || static_cast<double>(*std::max_element(begin, end)) < peak) continue;
            const auto time_at = [&](auto bin) {
                return std::min(last, observed[i].begin + duration{bin_us * (bin - part.begin())});
            };
            const time_span event{time_at(begin), time_at(end)};
            if (event.length() >= options.shortest && event.length() <= options.longest)
                found.push_back(event);
        }
    }
    return found;
}

}  // namespace spikeweave
