// interval_jitter and spike_dithering: each unit keeps its dead time.

#include <algorithm>

#include "assess/surrogates/generators.hpp"

namespace spikeweave {
namespace {

// The shortest interval between two spikes of a unit, as Stella et al. 2022 estimate its dead time,
// up to the 4 ms beyond which few spikes tell nothing. Surrogates that violate it have closer
// spikes, which makes fewer occurrences without overlap, and the data look special that are not.
std::int64_t dead_time_us(std::span<const std::int64_t> times) {
    return shortest_interval(times, 4'000);
}

// There is room: the original spikes were no closer.
void move_apart(std::span<std::int64_t> times, std::int64_t last, std::int64_t gap) {
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i)
        times[i] = std::max(times[i], times[i - 1] + gap);
    for (auto t = times.rbegin(); t != times.rend() && *t > last; ++t) {
        *t = last;
        last -= gap;
    }
}

void dither_reflected(std::span<std::int64_t> times, time_span span, std::int64_t most,
                      random_stream& random) {
    const std::int64_t first = span.begin.count();
    const std::int64_t last = span.end.count();
    const std::int64_t gap = dead_time_us(times);
    for (std::int64_t& t : times) {
        t += uniform_between(-most, most, random);
        if (t < first) t = 2 * first - t;
        if (t > last) t = 2 * last - t;
        t = std::clamp(t, first, last);  // in a span shorter than the dither
    }
    move_apart(times, last, gap);
}

}  // namespace

std::int64_t shortest_interval(std::span<const std::int64_t> times, std::int64_t most) {
    for (std::size_t i = 1; i < times.size(); ++i) most = std::min(most, times[i] - times[i - 1]);
    return most;
}

// Draws them in what the gaps leave free and puts these back in.
void place_apart(std::span<std::int64_t> times, std::int64_t first, std::int64_t last,
                 std::int64_t gap, random_stream& random) {
    const auto gaps = static_cast<std::int64_t>(times.size() - 1) * gap;
    for (std::int64_t& t : times) t = uniform_between(first, last - gaps, random);
    std::sort(times.begin(), times.end());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] += static_cast<std::int64_t>(i) * gap;
}

void redraw_in_cells(std::span<std::int64_t> times, time_span span, std::int64_t width,
                     std::int64_t gap, random_stream& random) {
    const std::int64_t origin = span.begin.count();
    std::int64_t free = origin;  // from here on the spike before is no longer felt
    for (std::size_t begin = 0; begin < times.size();) {
        const std::int64_t cell = (times[begin] - origin) / width;
        const std::int64_t first = origin + cell * width;
        const std::int64_t last = std::min(first + width - 1, span.end.count());
        std::size_t end = begin + 1;
        while (end < times.size() && times[end] <= last) ++end;
        // Where the interval before leaves too little room, its last spike is not minded.
        const auto needed = static_cast<std::int64_t>(end - begin - 1) * gap;
        const std::int64_t from = free <= last - needed ? std::max(first, free) : first;
        place_apart(times.subspan(begin, end - begin), from, last, gap, random);
        free = times[end - 1] + gap;
        begin = end;
    }
}

time_mover dead_time_mover(time_span span, const surrogate_options& options) {
    const std::int64_t dither = options.dither.count();
    if (options.method == surrogate_method::interval_jitter)
        return [span, dither](unit_id, std::vector<std::int64_t>& times, random_stream& random) {
            redraw_in_cells(times, span, 2 * dither, dead_time_us(times), random);
        };
    return [span, dither](unit_id, std::vector<std::int64_t>& times, random_stream& random) {
        dither_reflected(times, span, dither, random);
    };
}

}  // namespace spikeweave
