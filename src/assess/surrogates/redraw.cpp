// jitter_spikes, randomise_spikes, shuffle_isis.

#include <numeric>

#include "assess/surrogates/generators.hpp"

namespace spikeweave::assess {
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
