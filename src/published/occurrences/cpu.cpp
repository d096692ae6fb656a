// The published Algorithms 2 and 3: a superset of the wanted occurrences, one entry for every way
// to walk the episode, then greedy scheduling: take an occurrence whenever it starts after the end
// of the one taken last.
//
// The ways are walked start by start, depth first, which is the order in which the published lists
// hold them; in that order the first entry of a start has its earliest end, so nothing is sorted
// (docs/algorithms/episodes.md) and nothing kept. The number of ways is combinatorial in bursts,
// and so is the time.

#include <algorithm>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/search/counters.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {
namespace {

class occurrence_walk {
public:
    occurrence_walk(const counting_problem& problem, const spike_trains& trains,
                    std::span<const unit_id> units, std::span<const std::uint32_t> delays)
        : problem_(problem), trains_(trains), units_(units), delays_(delays) {}

    std::uint64_t count() {
        for (std::uint32_t start = 0; start < trains_.count(units_[0]); ++start) {
            start_ = order_key(units_[0], start);
            go_on(0, start);
        }
        return count_;
    }

private:
    std::int64_t order_key(unit_id unit, std::uint32_t i) const {
        return problem_.ties == tie_rule::time ? trains_.times_us(unit)[i]
                                               : trains_.positions(unit)[i];
    }

    // Algorithm 3: walks every way to continue from spike `i` of node `node`, and runs Algorithm 2
    // at the end of each.
    void go_on(std::size_t node, std::uint32_t i) {
        if (++steps_ % steps_between_stop_checks == 0) core::throw_if_stopped(problem_.run.stop);
        if (node == delays_.size()) {
            if (start_ <= last_end_) return;
            ++count_;
            last_end_ = order_key(units_[node], i);
            return;
        }
        const interval_us& step = problem_.intervals[delays_[node]];
        const std::int64_t time = trains_.times_us(units_[node])[i];
        const auto to = trains_.times_us(units_[node + 1]);
        auto next = std::upper_bound(to.begin(), to.end(), time + step.low);
        for (; next != to.end() && *next - time <= step.high; ++next)
            go_on(node + 1, static_cast<std::uint32_t>(next - to.begin()));
    }

    static constexpr std::uint64_t steps_between_stop_checks = 1 << 16;

    const counting_problem& problem_;
    const spike_trains& trains_;
    std::span<const unit_id> units_;
    std::span<const std::uint32_t> delays_;
    std::int64_t start_ = 0;
    std::int64_t last_end_ = INT64_MIN;
    std::uint64_t count_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace

count_result count_by_occurrences(const counting_problem& problem, const candidate_set& candidates,
                                  std::uint64_t) {
    const spike_trains trains(problem.spikes);
    count_result result{std::vector<std::uint64_t>(candidates.count())};
    parallel::parallel_for(
        candidates.count(), problem.run, "counting by occurrences", [&](std::size_t c) {
            result.counts[c] =
                occurrence_walk(problem, trains, candidates.units_of(c), candidates.delays_of(c))
                    .count();
        });
    return result;
}

}  // namespace spikeweave::episodes
