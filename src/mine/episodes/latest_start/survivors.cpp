#include "mine/episodes/latest_start/survivors.hpp"

#include <algorithm>
#include <numeric>

namespace spikeweave::episodes {
namespace {

// A spike at `t` lets the spikes in (t + low, t + high] survive, unless a later spike of the prefix
// reaches them too: that one has a later start. So the k-th window ends where the next begins,
// windows never overlap, and the output is in order.
//
// end_at(k), start_at(k): the k-th of n survivors of the prefix.
template <class EndAt, class StartAt>
void extend(const indexed_train& from, std::size_t n, EndAt end_at, StartAt start_at,
            const indexed_train& target, const interval_us& step, survivor_buffer& out) {
    out.set_size(0);
    if (n == 0) return;
    out.reserve(target.size);
    std::uint32_t* const ends = out.ends();
    std::uint32_t* const starts = out.starts();
    const indexed_train to = target;  // a copy: what is written through `ends` cannot change it
    const std::int64_t* const from_times = from.times_us;
    const std::int64_t low = step.low;
    const std::int64_t high = step.high;
    std::size_t found = 0;
    const auto window = [&](std::size_t k, std::int64_t time, std::uint32_t begin,
                            std::uint32_t end) {
        const std::int64_t last = time + high;
        // Nearly every window holds no spike or one: write without asking, and keep it if it
        // counts.
        ends[found] = begin;
        starts[found] = start_at(k);
        found += static_cast<std::size_t>(begin < end) &
                 static_cast<std::size_t>(to.times_us[begin] <= last);
        if (static_cast<unsigned>(begin + 1 < end) &
            static_cast<unsigned>(to.times_us[begin + 1] <= last)) [[unlikely]] {
            for (std::uint32_t i = begin + 1; i < end && to.times_us[i] <= last; ++i) {
                ends[found] = i;
                starts[found] = start_at(k);
                ++found;
            }
        }
    };
    std::int64_t time = from_times[end_at(0)];
    std::uint32_t begin = to.first_after(time + low, 0);
    for (std::size_t k = 0; k + 1 < n; ++k) {
        const std::int64_t next_time = from_times[end_at(k + 1)];
        const std::uint32_t next = to.first_after(next_time + low, begin);
        window(k, time, begin, next);
        begin = next;
        time = next_time;
    }
    window(n - 1, time, begin, to.size);
    out.set_size(found);
}

// The distance at which windows are prefetched: a table is larger than the nearest cache.
constexpr std::size_t ahead = 16;

// The same with a table: windows[which[k]] is what the k-th survivor of the prefix that reaches
// anything reaches, and start_at(k) its latest start.
template <class StartAt>
void extend_by_table(const step_table::window* windows, const std::uint32_t* which, std::size_t n,
                     StartAt start_at, survivor_buffer& out) {
    out.set_size(0);
    if (n == 0) return;
    std::uint32_t* const ends = out.ends();
    std::uint32_t* const starts = out.starts();
    std::size_t found = 0;
    step_table::window now = windows[which[0]];
    for (std::size_t k = 0; k < n; ++k) {
        __builtin_prefetch(&windows[which[std::min(k + ahead, n - 1)]]);
        const step_table::window next =
            k + 1 < n ? windows[which[k + 1]] : step_table::window{UINT32_MAX, UINT32_MAX};
        const std::int64_t more =
            static_cast<std::int64_t>(std::min(now.end, next.begin)) - now.begin;
        const std::uint32_t start = start_at(k);
        // One or two mostly: written without asking, and kept as far as they count.
        ends[found] = now.begin;
        ends[found + 1] = now.begin + 1;
        starts[found] = start;
        starts[found + 1] = start;
        if (more > 2) [[unlikely]] {
            for (std::uint32_t i = 2; i < more; ++i) {
                ends[found + i] = now.begin + i;
                starts[found + i] = start;
            }
        }
        found += static_cast<std::size_t>(std::max<std::int64_t>(more, 0));
        now = next;
    }
    out.set_size(found);
}

template <class Place>
std::uint64_t earliest_end_first(const Place* first, const Place* last,
                                 const survivor_view& survivors) {
    if (survivors.size() == 0) return 0;
    std::uint64_t count = 1;
    Place end = last[survivors.ends[0]];
    for (std::size_t k = 1; k < survivors.size(); ++k) {
        if (first[survivors.starts[k]] <= end) continue;
        ++count;
        end = last[survivors.ends[k]];
    }
    return count;
}

template <class Place>
void earliest_end_first_on(const Place* first, const Place* last, std::int64_t offset,
                           const survivor_view& survivors, std::size_t begin,
                           running_count& counted) {
    running_count now = counted;
    for (std::size_t k = begin; k < survivors.size(); ++k) {
        if (offset + first[survivors.starts[k]] <= now.last_end) continue;
        ++now.count;
        now.last_end = offset + last[survivors.ends[k]];
    }
    counted = now;
}

}  // namespace

void begin_survivors(const indexed_train& from, const indexed_train& to, const interval_us& step,
                     survivor_buffer& out) {
    const auto itself = [](std::size_t k) { return static_cast<std::uint32_t>(k); };
    extend(from, from.size, itself, itself, to, step, out);
}

void extend_survivors(const indexed_train& from, const survivor_view& prefix,
                      const indexed_train& to, const interval_us& step, survivor_buffer& out) {
    const std::uint32_t* const ends = prefix.ends.data();
    const std::uint32_t* const starts = prefix.starts.data();
    extend(
        from, prefix.size(), [ends](std::size_t k) { return ends[k]; },
        [starts](std::size_t k) { return starts[k]; }, to, step, out);
}

void begin_survivors(const step_table& step, std::uint32_t to_size, survivor_buffer& out) {
    const std::size_t n = step.window_count();
    out.reserve(to_size);
    std::uint32_t* const spikes = out.scratch(2 * n);
    std::uint32_t* const which = spikes + n;
    step.spikes_that_reach(spikes);
    std::iota(which, which + n, 0U);
    extend_by_table(
        step.windows(), which, n, [spikes](std::size_t k) { return spikes[k]; }, out);
}

void extend_survivors(const survivor_view& prefix, const step_table& step, std::uint32_t to_size,
                      survivor_buffer& out) {
    out.reserve(to_size);
    std::uint32_t* const reaching = out.scratch(2 * prefix.size());
    std::uint32_t* const which = reaching + prefix.size();
    const std::uint32_t* const ends = prefix.ends.data();
    const std::uint32_t* const starts = prefix.starts.data();
    std::size_t n = 0;
    for (std::uint32_t k = 0; k < prefix.size(); ++k) {
        reaching[n] = k;
        n += step.reaches(ends[k]) ? 1 : 0;
    }
    for (std::size_t k = 0; k < n; ++k) which[k] = step.window_of(ends[reaching[k]]);
    extend_by_table(
        step.windows(), which, n, [starts, reaching](std::size_t k) { return starts[reaching[k]]; },
        out);
}

std::uint64_t count_disjoint(const indexed_train& first, const indexed_train& last,
                             const survivor_view& survivors, tie_rule ties) {
    return ties == tie_rule::time ? earliest_end_first(first.times_us, last.times_us, survivors)
                                  : earliest_end_first(first.positions, last.positions, survivors);
}

void count_disjoint_on(const indexed_train& first, const indexed_train& last,
                       const survivor_view& survivors, tie_rule ties, const new_spikes& fresh,
                       running_count& counted) {
    const auto begin = static_cast<std::size_t>(
        std::partition_point(survivors.ends.begin(), survivors.ends.end(),
                             [&](std::uint32_t end) { return last.positions[end] < fresh.first; }) -
        survivors.ends.begin());
    if (ties == tie_rule::time) {
        earliest_end_first_on(first.times_us, last.times_us, 0, survivors, begin, counted);
    } else {
        earliest_end_first_on(first.positions, last.positions, fresh.offset, survivors, begin,
                              counted);
    }
}

}  // namespace spikeweave::episodes
