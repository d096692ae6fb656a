#include "mine/episode/survivors.hpp"

namespace synfire::episodes {
namespace {

// A spike at `t` lets the spikes in (t + low, t + high] survive, unless a later spike of the prefix
// reaches them too: that one has a later start. So the k-th window ends where the next begins,
// windows never overlap, and the output is in order.
//
// end_at(k), start_at(k): the k-th of n survivors of the prefix.
template <class EndAt, class StartAt>
void extend(const indexed_train& from, std::size_t n, EndAt end_at, StartAt start_at,
            const indexed_train& to, const interval_us& step, survivor_buffer& out) {
    out.reserve(to.size);
    std::uint32_t* const ends = out.ends();
    std::uint32_t* const starts = out.starts();
    std::size_t found = 0;
    std::int64_t time = n > 0 ? from.times_us[end_at(0)] : 0;
    std::uint32_t begin = n > 0 ? to.first_after(time + step.low, 0) : 0;
    for (std::size_t k = 0; k < n; ++k) {
        std::uint32_t next = to.size;
        std::int64_t next_time = 0;
        if (k + 1 < n) {
            next_time = from.times_us[end_at(k + 1)];
            next = to.first_after(next_time + step.low, begin);
        }
        const std::int64_t last = time + step.high;
        // Nearly every window holds no spike or one: write without asking, and keep it if it
        // counts.
        ends[found] = begin;
        starts[found] = start_at(k);
        found += static_cast<std::size_t>(begin < next) &
                 static_cast<std::size_t>(to.times_us[begin] <= last);
        for (std::uint32_t i = begin + 1; i < next && to.times_us[i] <= last; ++i) {
            ends[found] = i;
            starts[found] = start_at(k);
            ++found;
        }
        begin = next;
        time = next_time;
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

std::uint64_t count_disjoint(const indexed_train& first, const indexed_train& last,
                             const survivor_view& survivors, tie_rule ties) {
    return ties == tie_rule::time ? earliest_end_first(first.times_us, last.times_us, survivors)
                                  : earliest_end_first(first.positions, last.positions, survivors);
}

}  // namespace synfire::episodes
