// Counts straight from the definition: lists every occurrence, then finds the largest set of them
// without overlap. Time and memory are combinatorial. The other strategies are tested against this
// one, and it shares no code with them.

#include <algorithm>
#include <map>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {
namespace {

struct occurrence {
    std::int64_t start;
    std::int64_t end;
};

class occurrence_finder {
public:
    occurrence_finder(const counting_problem& problem, const candidate_set& candidates,
                      std::size_t which)
        : problem_(problem),
          units_(candidates.units_of(which)),
          delays_(candidates.delays_of(which)) {}

    std::vector<occurrence> find() {
        for (std::size_t i = 0; i < problem_.spikes.size(); ++i) {
            if (problem_.spikes.units()[i] != units_[0]) continue;
            complete(i, i, 1);
        }
        return std::move(found_);
    }

private:
    // The order key of a spike, by which overlap is decided.
    std::int64_t order_key(std::size_t spike) const {
        return problem_.ties == tie_rule::time ? problem_.spikes.times_us()[spike]
                                               : static_cast<std::int64_t>(spike);
    }

    void complete(std::size_t first, std::size_t last, std::size_t size) {
        constexpr std::uint64_t steps_between_stop_checks = 1 << 16;
        if (++steps_ % steps_between_stop_checks == 0) core::throw_if_stopped(problem_.run.stop);
        if (size == units_.size()) {
            found_.push_back({order_key(first), order_key(last)});
            return;
        }
        const auto times = problem_.spikes.times_us();
        const interval_us& step = problem_.intervals[delays_[size - 1]];
        for (std::size_t i = last + 1; i < times.size() && times[i] - times[last] <= step.high;
             ++i) {
            if (problem_.spikes.units()[i] == units_[size] && times[i] - times[last] > step.low)
                complete(first, i, size + 1);
        }
    }

    const counting_problem& problem_;
    std::span<const unit_id> units_;
    std::span<const std::uint32_t> delays_;
    std::vector<occurrence> found_;
    std::uint64_t steps_ = 0;
};

// most[e]: the largest number of occurrences without overlap that all end at e or before. Each
// occurrence either adds one to the number possible before its start, or is left out.
std::uint64_t largest_disjoint_set(std::vector<occurrence> all) {
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
    std::map<std::int64_t, std::uint64_t> most;
    std::uint64_t best = 0;
    for (const occurrence& o : all) {
        const auto after = most.lower_bound(o.start);
        const std::uint64_t before = after == most.begin() ? 0 : std::prev(after)->second;
        best = std::max(best, before + 1);
        most[o.end] = best;
    }
    return best;
}

}  // namespace

count_result count_by_reference(const counting_problem& problem, const candidate_set& candidates,
                                std::uint64_t) {
    count_result result;
    for (std::size_t c = 0; c < candidates.count(); ++c)
        result.counts.push_back(
            largest_disjoint_set(occurrence_finder(problem, candidates, c).find()));
    return result;
}

}  // namespace spikeweave::episodes
