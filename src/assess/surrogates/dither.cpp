// dither_spikes, dither_spikes_with_refractory_period, dither_spike_train.

#include <algorithm>
#include <numeric>

#include "assess/surrogates/generators.hpp"

namespace spikeweave::assess {
namespace {

using enum surrogate_method;

// Keeps only the spikes that `keep` accepts, or moves spikes beyond an end to that end.
template <class Keep>
void treat_edges(std::vector<std::int64_t>& times, time_span span, surrogate_edges edges,
                 Keep keep) {
    if (edges == surrogate_edges::drop) {
        std::erase_if(times, [&](std::int64_t t) { return !keep(t); });
        return;
    }
    for (std::int64_t& t : times) t = std::clamp(t, span.begin.count(), span.end.count());
}

// Moves the spikes one after another in random order, each between the current places of its
// neighbours, so that no spike overtakes another or leaves the span.
void dither_between_neighbours(std::vector<std::int64_t>& times, time_span span, std::int64_t most,
                               std::int64_t refractory_period, random_stream& random) {
    const std::int64_t apart = shortest_interval(times, refractory_period);
    std::vector<std::uint32_t> order(times.size());
    std::iota(order.begin(), order.end(), 0U);
    shuffle(std::span{order}, random);
    for (const std::uint32_t i : order) {
        const std::int64_t first = i == 0 ? span.begin.count() : times[i - 1] + apart;
        const std::int64_t last = i + 1 == times.size() ? span.end.count() : times[i + 1] - apart;
        times[i] = uniform_between(std::max(first, times[i] - most),
                                   std::min(last, times[i] + most), random);
    }
}

}  // namespace

time_mover dither_mover(time_span span, const surrogate_options& options,
                        duration refractory_period) {
    const std::int64_t most = options.dither.count();
    const surrogate_edges edges = options.edges;
    const std::int64_t first = span.begin.count();
    const std::int64_t last = span.end.count();
    if (options.method == dither_spikes_with_refractory_period)
        return [span, most, refractory_period](unit_id, auto& times, random_stream& random) {
            dither_between_neighbours(times, span, most, refractory_period.count(), random);
        };
    if (options.method == dither_spike_train)
        return [=](unit_id, auto& times, random_stream& random) {
            const std::int64_t shift = uniform_between(-most, most, random);
            for (std::int64_t& t : times) t += shift;
            treat_edges(times, span, edges, [&](std::int64_t t) { return t >= first && t < last; });
        };
    return [=](unit_id, auto& times, random_stream& random) {
        for (std::int64_t& t : times) t += uniform_between(-most, most, random);
        std::sort(times.begin(), times.end());
        treat_edges(times, span, edges, [&](std::int64_t t) { return t > first && t < last; });
    };
}

// jitter_spikes, randomise_spikes, shuffle_isis.
namespace {

// Two spikes on one microsecond would become one, but the count must not change.
constexpr std::int64_t least_gap = 1;

// The time before the first spike is an interval like the others, unless it is 0.
void shuffle_intervals(std::span<std::int64_t> times, std::int64_t begin, random_stream& random) {
    for (std::int64_t& t : times) t -= begin;
    std::adjacent_difference(times.begin(), times.end(), times.begin());
    shuffle(times.front() == 0 ? times.subspan(1) : times, random);
    std::partial_sum(times.begin(), times.end(), times.begin());
    for (std::int64_t& t : times) t += begin;
}

}  // namespace

time_mover redraw_mover(time_span span, const surrogate_options& options) {
    const std::int64_t width = options.dither.count();
    switch (options.method) {
        case surrogate_method::jitter_spikes:
            return [span, width](unit_id, auto& times, random_stream& random) {
                redraw_in_cells(times, span, width, least_gap, random);
            };
        case surrogate_method::randomise_spikes:
            return [span](unit_id, auto& times, random_stream& random) {
                place_apart(times, span.begin.count(), span.end.count(), least_gap, random);
            };
        default:
            return [span](unit_id, auto& times, random_stream& random) {
                shuffle_intervals(times, span.begin.count(), random);
            };
    }
}

}  // namespace spikeweave::assess
