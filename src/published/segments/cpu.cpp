// The published segment counting (MTPE with Map-Concatenate), with a merge that is always exact.
//
// The spikes are cut into segments of time. To continue from any state at the beginning of a
// segment, only its list of survivors is needed: the ends of occurrences with the latest start of
// each. One binary search then finds where to begin ("the first that starts after the last end
// taken"); how many follow, and where the last one ends, is tabulated backwards.
//
// The published summary instead runs one state machine for each node of the episode, started so far
// before the segment that it may hold the partial occurrence that crosses the boundary. It relies
// on one of them ending its first completion where the previous segment ended. Those machines run
// here too, and the boundaries at which none matches are counted.

#include <algorithm>
#include <optional>
#include <vector>

#include "mine/episodes/search/counters.hpp"
#include "parallel/parallel_for.hpp"
#include "published/state_machine/stamp_list.hpp"

namespace spikeweave::episodes {
namespace {

constexpr std::int64_t most_segments = 256;

struct event {
    std::int64_t time;
    std::int64_t order_key;  // decides on overlap: the time, or the position in the sequence
    unit_id unit;
};

// One candidate with the spikes that concern it and the boundaries of its segments.
class segmented_candidate {
public:
    segmented_candidate(const counting_problem& problem, const spike_trains& trains,
                        const candidate_set& candidates, std::size_t which)
        : ties_(problem.ties), units_(candidates.units_of(which)) {
        for (const std::uint32_t d : candidates.delays_of(which))
            steps_.push_back(problem.intervals[d]);
        for (const interval_us& step : steps_) reach_ += step.high;
        std::vector<unit_id> distinct(units_.begin(), units_.end());
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        std::vector<std::uint32_t> positions;
        for (const unit_id unit : distinct) {
            const auto more = trains.positions(unit);
            positions.insert(positions.end(), more.begin(), more.end());
        }
        std::sort(positions.begin(), positions.end());
        for (const std::uint32_t i : positions) {
            const std::int64_t time = problem.spikes.times_us()[i];
            events_.push_back(
                {time, ties_ == tie_rule::time ? time : i, problem.spikes.units()[i]});
        }
        cut();
    }

    std::uint64_t count() const;
    std::uint64_t published_misses() const;

private:
    struct survivor {
        std::int64_t time;       // time of the end
        std::int64_t order_key;  // order key of the end
        std::int64_t start;      // order key of the latest start
    };
    struct machine_result {
        std::int64_t first_end;  // a: the first completion within reach of the segment's begin,
                                 // else the begin
        std::int64_t crossing;   // b: the first completion beyond the segment's end, within reach,
                                 // else the end
    };

    void cut();
    auto after(std::int64_t time) const {
        return std::upper_bound(events_.begin(), events_.end(), time,
                                [](std::int64_t t, const event& e) { return t < e.time; });
    }
    std::vector<survivor> survivors(std::int64_t begin, std::int64_t end) const;
    machine_result run_machine(std::size_t segment, std::int64_t from) const;

    tie_rule ties_;
    std::span<const unit_id> units_;
    std::vector<interval_us> steps_;
    std::int64_t reach_ = 0;  // longest possible occurrence
    std::vector<event> events_;
    std::vector<std::int64_t> boundaries_;  // segment p is (boundaries_[p], boundaries_[p + 1]]
};

// Makes segments no shorter than the longest possible occurrence, as the published scheme requires.
void segmented_candidate::cut() {
    if (events_.empty()) {
        boundaries_ = {0, 0};
        return;
    }
    const std::int64_t begin = events_.front().time - 1;
    const std::int64_t length = events_.back().time - begin;
    const std::int64_t segments = std::clamp<std::int64_t>(length / reach_, 1, most_segments);
    const std::int64_t piece = length / segments;
    for (std::int64_t p = 0; p < segments; ++p) boundaries_.push_back(begin + p * piece);
    boundaries_.push_back(begin + length);
}

// The ends in (begin, end] with the latest start of each. A margin (halo) of `reach_` before the
// segment contains all spikes that can matter.
std::vector<segmented_candidate::survivor> segmented_candidate::survivors(std::int64_t begin,
                                                                          std::int64_t end) const {
    const auto first = after(begin - reach_);
    const auto last = after(end);
    std::vector<survivor> ends;
    for (auto e = first; e != last; ++e) {
        if (e->unit == units_[0]) ends.push_back({e->time, e->order_key, e->order_key});
    }
    for (std::size_t k = 0; k < steps_.size(); ++k) {
        std::vector<survivor> next;
        std::size_t eligible = 0;
        for (auto e = first; e != last; ++e) {
            if (e->unit != units_[k + 1]) continue;
            while (eligible < ends.size() && ends[eligible].time < e->time - steps_[k].low)
                ++eligible;
            if (eligible > 0 && e->time - ends[eligible - 1].time <= steps_[k].high)
                next.push_back({e->time, e->order_key, ends[eligible - 1].start});
        }
        ends = std::move(next);
    }
    std::erase_if(ends, [&](const survivor& s) { return s.time <= begin; });
    return ends;
}

std::uint64_t segmented_candidate::count() const {
    std::uint64_t total = 0;
    std::int64_t last_end = INT64_MIN;
    for (std::size_t p = 0; p + 1 < boundaries_.size(); ++p) {
        const auto ends = survivors(boundaries_[p], boundaries_[p + 1]);
        const auto first_starting_after = [&](std::int64_t order_key) {
            return static_cast<std::size_t>(
                std::partition_point(ends.begin(), ends.end(),
                                     [&](const survivor& s) { return s.start <= order_key; }) -
                ends.begin());
        };
        // For each survivor: how many are taken from it on, and where the last of them ends.
        std::vector<std::uint64_t> taken(ends.size() + 1);
        std::vector<std::int64_t> final_end(ends.size());
        for (std::size_t j = ends.size(); j-- > 0;) {
            const std::size_t next = first_starting_after(ends[j].order_key);
            taken[j] = 1 + taken[next];
            final_end[j] = next < ends.size() ? final_end[next] : ends[j].order_key;
        }
        const std::size_t entry = first_starting_after(last_end);
        if (entry == ends.size()) continue;
        total += taken[entry];
        last_end = final_end[entry];
    }
    return total;
}

segmented_candidate::machine_result segmented_candidate::run_machine(std::size_t segment,
                                                                     std::int64_t from) const {
    const std::int64_t begin = boundaries_[segment];
    const std::int64_t end = boundaries_[segment + 1];
    std::vector<stamp_list> open(units_.size());
    std::optional<std::int64_t> first_end;
    std::int64_t last_completion = INT64_MIN;
    for (auto e = after(from); e != events_.end() && e->time <= end + reach_; ++e) {
        for (std::size_t node = units_.size(); node-- > 0;) {
            if (e->unit != units_[node]) continue;
            if (node == 0) {
                if (ties_ == tie_rule::order || e->time > last_completion)
                    open[0].push_back(e->time);
                continue;
            }
            stamp_list& before = open[node - 1];
            while (!before.empty() && e->time - before.front() > steps_[node - 1].high)
                before.pop_front();
            if (before.empty() || e->time - before.front() <= steps_[node - 1].low) continue;
            if (node + 1 < units_.size()) {
                open[node].push_back(e->time);
                continue;
            }
            if (e->time > begin && e->time <= begin + reach_ && !first_end) first_end = e->time;
            if (e->time > end) return {first_end.value_or(begin), e->time};
            last_completion = e->time;
            for (stamp_list& list : open) list.clear();
            break;
        }
    }
    return {first_end.value_or(begin), end};
}

// Follows the true state (the machine that began empty at the first segment) over the boundaries.
// If no machine of the next segment matches it, the published merge has no answer, and the walk
// continues with the machine that began at the boundary.
std::uint64_t segmented_candidate::published_misses() const {
    std::uint64_t misses = 0;
    std::optional<std::int64_t> handed_over;
    for (std::size_t p = 0; p + 1 < boundaries_.size(); ++p) {
        std::optional<machine_result> match;
        std::int64_t from = boundaries_[p];
        machine_result own{};
        for (std::size_t k = 0; k < units_.size(); ++k) {
            const machine_result result = run_machine(p, from);
            if (k == 0) own = result;
            if (!match && (!handed_over || result.first_end == *handed_over)) match = result;
            if (k < steps_.size()) from -= steps_[k].high;
        }
        if (!match) ++misses;
        handed_over = match.value_or(own).crossing;
    }
    return misses;
}

}  // namespace

count_result count_by_segments(const counting_problem& problem, const candidate_set& candidates,
                               std::uint64_t) {
    const spike_trains trains(problem.spikes);
    count_result result{std::vector<std::uint64_t>(candidates.count())};
    std::vector<std::uint64_t> misses(candidates.count());
    parallel::parallel_for(candidates.count(), problem.run, "counting by segments",
                           [&](std::size_t c) {
                               const segmented_candidate one(problem, trains, candidates, c);
                               result.counts[c] = one.count();
                               misses[c] = one.published_misses();
                           });
    for (const std::uint64_t m : misses) result.merge_misses += m;
    return result;
}

}  // namespace spikeweave::episodes
