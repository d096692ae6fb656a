// The published Algorithms 2 and 3: a superset of the wanted occurrences, one entry for every way
// to walk the episode, then greedy scheduling: take an occurrence whenever it starts after the end
// of the one taken last.
//
// Lists are made start by start and keep their order; in that order the first entry of a start has
// its earliest end, so no sorting is needed (docs/algorithms/episodes.md). The number of entries is
// combinatorial in bursts: blocks of starts bound the memory, not the time.

#include <algorithm>
#include <vector>

#include "core/stop.hpp"
#include "mine/episode/counters.hpp"
#include "parallel/parallel_for.hpp"

namespace synfire::episodes {
namespace {

constexpr std::size_t starts_in_a_block = 64;

// An open occurrence: its first spike and its last so far, as indices into their units' trains.
struct partial {
    std::uint32_t start;
    std::uint32_t end;
};

// Algorithm 3 for one step: every way to go on from each partial occurrence.
void extend_all(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                const interval_us& step, const std::vector<partial>& open,
                std::vector<partial>& longer) {
    longer.clear();
    for (const partial& p : open) {
        const std::int64_t time = from[p.end];
        auto next = std::upper_bound(to.begin(), to.end(), time + step.low);
        for (; next != to.end() && *next - time <= step.high; ++next)
            longer.push_back({p.start, static_cast<std::uint32_t>(next - to.begin())});
    }
}

std::uint64_t count_one(const counting_problem& problem, const spike_trains& trains,
                        std::span<const unit_id> units, std::span<const std::uint32_t> delays) {
    const auto place = [&](unit_id unit, std::uint32_t i) -> std::int64_t {
        return problem.ties == tie_rule::time ? trains.times_us(unit)[i]
                                              : trains.positions(unit)[i];
    };
    std::uint64_t count = 0;
    std::int64_t last_end = INT64_MIN;
    std::vector<partial> open;
    std::vector<partial> longer;
    const std::size_t starts = trains.count(units[0]);
    for (std::size_t begin = 0; begin < starts; begin += starts_in_a_block) {
        throw_if_stopped(problem.run.stop);
        open.clear();
        for (std::size_t i = begin; i < std::min(starts, begin + starts_in_a_block); ++i)
            open.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)});
        for (std::size_t k = 0; k < delays.size(); ++k) {
            extend_all(trains.times_us(units[k]), trains.times_us(units[k + 1]),
                       problem.intervals[delays[k]], open, longer);
            open.swap(longer);
        }
        for (const partial& p : open) {  // Algorithm 2
            if (place(units[0], p.start) <= last_end) continue;
            ++count;
            last_end = place(units.back(), p.end);
        }
    }
    return count;
}

}  // namespace

count_result count_by_occurrences(const counting_problem& problem, const candidate_set& candidates,
                                  std::uint64_t) {
    const spike_trains trains(problem.spikes);
    count_result result{std::vector<std::uint64_t>(candidates.count())};
    parallel_for(candidates.count(), problem.run, "counting by occurrences", [&](std::size_t c) {
        result.counts[c] =
            count_one(problem, trains, candidates.units_of(c), candidates.delays_of(c));
    });
    return result;
}

}  // namespace synfire::episodes
