#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

/// Spikes from which surrogates are drawn, and the measurements of these.
namespace spikeweave::surrogate_samples {

using namespace std::chrono_literals;
using times_us = std::vector<std::int64_t>;

inline spike_sequence one_unit(const times_us& times, time_span span) {
    return {times, std::vector<unit_id>(times.size(), unit_id{0}), {"a"}, span};
}

inline times_us times_of(const spike_sequence& spikes, std::uint32_t unit = 0) {
    const spike_trains trains(spikes);
    const auto times = trains.times_us(unit_id{unit});
    return {times.begin(), times.end()};
}

inline times_us intervals_of(const times_us& times) {
    times_us out;
    for (std::size_t i = 1; i < times.size(); ++i) out.push_back(times[i] - times[i - 1]);
    return out;
}

template <class T>
std::vector<T> sorted(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    return values;
}

// Three units with dead times and rates of 5 to 40 Hz, in a span that does not begin at 0.
inline spike_sequence units_with_dead_times(std::uint64_t seed = 1, duration length = 20s) {
    const spike_sequence raw =
        simulate_poisson({.units = 4, .length = length, .seed = seed}).spikes;
    const spike_trains trains(raw);
    std::vector<std::pair<std::int64_t, unit_id>> kept;
    constexpr std::int64_t shift = 7'000'123;
    for (std::uint32_t u = 0; u < 3; ++u) {
        std::int64_t last = INT64_MIN / 2;
        for (const std::int64_t t : trains.times_us(unit_id{u}))
            if (t - last >= 1'500) kept.emplace_back((last = t) + shift, unit_id{u});
    }
    return sequence_of(std::move(kept), {"a", "b", "c", "silent"},
                       {duration{shift}, duration{shift} + length});
}

inline surrogate_options options_for(surrogate_method method, const spike_sequence& spikes) {
    surrogate_options options{.method = method, .dither = 15ms, .seed = 3};
    if (method == surrogate_method::trial_shifting)
        options.trials = regular_trials(spikes.span(), 500ms, 200ms);
    return options;
}

// sqrt(n) times the largest distance of a sample from the uniform distribution on [first, last];
// above 1.95 with a probability of 1e-3.
inline double distance_from_uniform(times_us values, std::int64_t first, std::int64_t last) {
    std::sort(values.begin(), values.end());
    const auto n = static_cast<double>(values.size());
    const auto places = static_cast<double>(last - first + 1);
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double below = static_cast<double>(values[i] - first) / places;
        const double upto = static_cast<double>(values[i] - first + 1) / places;
        largest = std::max(
            {largest, below - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - upto});
    }
    return largest * std::sqrt(n);
}
constexpr double at_p_of_one_in_a_thousand = 1.95;

// Makes a spike every 100 ms, midway between multiples of it.
inline spike_sequence clock(std::size_t n, std::int64_t origin = -3'000'000) {
    times_us times;
    for (std::size_t i = 0; i < n; ++i)
        times.push_back(origin + 50'000 + static_cast<std::int64_t>(i) * 100'000);
    return one_unit(times, {duration{origin}, duration{origin + 100'000 * static_cast<long>(n)}});
}

inline times_us displacements(const surrogate_options& options, std::size_t n) {
    const spike_sequence before = clock(n);
    const times_us from = times_of(before);
    times_us by = times_of(make_surrogate(before, options, 1));
    EXPECT_EQ(by.size(), n);
    for (std::size_t i = 0; i < by.size(); ++i) by[i] -= from[i];
    return by;
}

}  // namespace spikeweave::surrogate_samples
