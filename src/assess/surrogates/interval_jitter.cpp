// interval_jitter and spike_dithering, which keep the close spikes of each unit.

#include <algorithm>

#include "assess/surrogates/generators.hpp"

namespace spikeweave::assess {
namespace {

// Spikes of a unit that are closer than this move together, and no others come as close. So a
// surrogate has exactly the close spikes of the data, few or many: a dead time is kept even if a
// few doublets break it, and bursts stay dense. Surrogates with more close spikes would have fewer
// occurrences without overlap, and ordinary data would look special.
std::int64_t close_us(duration dither) {
    constexpr std::int64_t most = 4'000;
    return std::min(most, dither.count() / 2);
}

// Spikes [first, end) that move together.
struct event {
    std::size_t first;
    std::size_t end;
};

std::vector<event> events_of(std::span<const std::int64_t> times, std::int64_t gap) {
    std::vector<event> out;
    out.reserve(times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (i == 0 || times[i] - times[i - 1] >= gap) out.push_back({i, i});
        out.back().end = i + 1;
    }
    return out;
}

// Working memory of `place_events`, reused from cell to cell.
struct cell_memory {
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> before;
};

// Places the events in [first, last], in random order and at random distances of at least `gap`.
// There must be room.
void place_events(std::span<std::int64_t> times, std::span<event> events, std::int64_t first,
                  std::int64_t free, std::int64_t gap, random_stream& random, cell_memory& memory) {
    const std::size_t base = events.front().first;  // where `times` begin
    auto& [places, before] = memory;
    places.resize(events.size());
    for (std::int64_t& place : places) place = uniform_between(0, free, random);
    std::sort(places.begin(), places.end());
    shuffle(events, random);
    before.assign(times.begin(), times.end());
    std::int64_t taken = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::int64_t begin = before[events[i].first - base];
        for (std::size_t k = events[i].first; k < events[i].end; ++k)
            times[at++] = first + places[i] + taken + before[k - base] - begin;
        taken += before[events[i].end - 1 - base] - begin + gap;
    }
}

void redraw_events_in_cells(std::vector<std::int64_t>& times, time_span span, std::int64_t width,
                            std::int64_t gap, random_stream& random) {
    std::vector<event> events = events_of(times, gap);
    cell_memory memory;
    const std::int64_t origin = span.begin.count();
    std::int64_t free = origin;  // from here on the previous event has no effect
    for (std::size_t begin = 0; begin < events.size();) {
        const std::int64_t cell = (times[events[begin].first] - origin) / width;
        const std::int64_t first = origin + cell * width;
        const std::int64_t next = first + width;
        std::size_t end = begin;
        std::int64_t needed = -gap;
        while (end < events.size() && times[events[end].first] < next) {
            needed += times[events[end].end - 1] - times[events[end].first] + gap;
            ++end;
        }
        // An event that reaches beyond the cell may still do so.
        const std::int64_t last =
            std::max(std::min(next - 1, span.end.count()), times[events[end - 1].end - 1]);
        const std::size_t from_spike = events[begin].first;
        const std::size_t to_spike = events[end - 1].end;
        // If the previous cell leaves too little room, the events are placed as late as possible.
        const std::int64_t from = std::min(std::max(first, free), last - needed);
        place_events(std::span{times}.subspan(from_spike, to_spike - from_spike),
                     std::span{events}.subspan(begin, end - begin), from, last - from - needed, gap,
                     random, memory);
        free = times[to_spike - 1] + gap;
        begin = end;
    }
}

// Keeps the events in order, and moves each right or left as far as its neighbours and the ends
// require.
void move_apart(std::vector<std::vector<std::int64_t>>& events, std::int64_t last,
                std::int64_t gap) {
    const auto shift = [](std::vector<std::int64_t>& one, std::int64_t by) {
        for (std::int64_t& t : one) t += by;
    };
    for (std::size_t i = 1; i < events.size(); ++i)
        shift(events[i], std::max<std::int64_t>(0, events[i - 1].back() + gap - events[i].front()));
    for (auto one = events.rbegin(); one != events.rend() && one->back() > last; ++one) {
        shift(*one, last - one->back());
        last = one->front() - gap;
    }
}

void dither_reflected(std::vector<std::int64_t>& times, time_span span, std::int64_t most,
                      std::int64_t gap, random_stream& random) {
    const std::int64_t first = span.begin.count();
    const std::int64_t last = span.end.count();
    std::vector<std::vector<std::int64_t>> moved;
    for (const event& one : events_of(times, gap)) {
        const std::int64_t length = times[one.end - 1] - times[one.first];
        std::int64_t t = times[one.first] + uniform_between(-most, most, random);
        if (t < first) t = 2 * first - t;
        if (t > last - length) t = 2 * (last - length) - t;
        t = std::clamp(t, first, last - length);  // in a span shorter than the dither
        std::vector<std::int64_t>& to = moved.emplace_back();
        for (std::size_t i = one.first; i < one.end; ++i)
            to.push_back(t + times[i] - times[one.first]);
    }
    std::sort(moved.begin(), moved.end());
    move_apart(moved, last, gap);
    auto out = times.begin();
    for (const std::vector<std::int64_t>& one : moved) out = std::copy(one.begin(), one.end(), out);
}

}  // namespace

std::int64_t shortest_interval(std::span<const std::int64_t> times, std::int64_t most) {
    for (std::size_t i = 1; i < times.size(); ++i) most = std::min(most, times[i] - times[i - 1]);
    return most;
}

// Draws the times in the space that the gaps leave free, then adds the gaps.
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
    std::int64_t free = origin;  // from here on the previous spike has no effect
    for (std::size_t begin = 0; begin < times.size();) {
        const std::int64_t cell = (times[begin] - origin) / width;
        const std::int64_t first = origin + cell * width;
        const std::int64_t last = std::min(first + width - 1, span.end.count());
        std::size_t end = begin + 1;
        while (end < times.size() && times[end] <= last) ++end;
        // If the previous interval leaves too little room, its last spike is ignored.
        const auto needed = static_cast<std::int64_t>(end - begin - 1) * gap;
        const std::int64_t from = free <= last - needed ? std::max(first, free) : first;
        place_apart(times.subspan(begin, end - begin), from, last, gap, random);
        free = times[end - 1] + gap;
        begin = end;
    }
}

time_mover dead_time_mover(time_span span, const surrogate_options& options) {
    const std::int64_t dither = options.dither.count();
    const std::int64_t gap = std::max<std::int64_t>(1, close_us(options.dither));
    if (options.method == surrogate_method::interval_jitter)
        return [=](unit_id, std::vector<std::int64_t>& times, random_stream& random) {
            redraw_events_in_cells(times, span, 2 * dither, gap, random);
        };
    return [=](unit_id, std::vector<std::int64_t>& times, random_stream& random) {
        dither_reflected(times, span, dither, gap, random);
    };
}

}  // namespace spikeweave::assess
