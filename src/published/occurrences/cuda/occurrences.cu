// The published Algorithms 2 and 3 with one thread per occurrence: node by node, every partial
// occurrence is extended by every spike that can continue it; then the complete occurrences are
// scheduled greedily.
//
//   work per thread   two binary searches in the train of the next unit, and one write per
//                     continuation
//   shared memory     8 bytes; 8 kB for scheduling
//   pays off          never on current GPUs: the lists grow combinatorially in bursts
//
// Each thread finds a different number of continuations, and all have to end up in one list. Three
// published methods are implemented:
//   atomic            a counter of the block, then one of the whole list; the list is unordered,
//                     so the last one is sorted by the ends of occurrences
//   select            fixed slots for each thread, compacted afterwards (CUDPP then, CUB now)
//   count-scan-write  count, prefix sum, write
// None of them can overflow silently. The first two guess the capacity, keep counting beyond it,
// and if it was too small repeat the step with the exact one; `select` works in pieces if slots for
// all do not fit. If a whole list does not fit, fewer starts are processed at a time.
//
// Lists that keep the order of their starts need no sorting (docs/algorithms/episodes.md): the
// first occurrence of a start is the one that ends first. Scheduling is parallel except for its
// last step. For each occurrence, a binary search finds the next one that starts after its end;
// this works because starts ascend or, in the sorted list, because the latest start so far does.
// Tables then hold where each occurrence leads beyond its tile and how many are taken on the way.
// Finally one thread per episode goes from tile to tile.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "device/cuda.hpp"
#include "mine/episodes/devices/candidate_steps.cuh"
#include "mine/episodes/devices/plan.hpp"
#include "published/occurrences/cuda/occurrence_lists.cuh"
#include "published/occurrences/cuda/occurrences.hpp"

namespace spikeweave::episodes {
namespace {

using namespace occurrence_lists;

class occurrence_counter {
public:
    occurrence_counter(const device_problem& problem, const candidate_set& candidates,
                       compaction_method how, const occurrence_capacity& capacity)
        : problem_(problem),
          how_(how),
          capacity_(capacity),
          on_(problem.run.stop),
          units_(plain(candidates.units), on_.stream()),
          delays_(candidates.delays, on_.stream()),
          counts_(candidates.count(), on_.stream()),
          last_end_(candidates.count(), on_.stream()) {
        // Bounds beyond the length of the recording are reduced to it, so that sums stay in range.
        const auto length = static_cast<std::int64_t>(problem.data.length_us());
        std::vector<interval_us> steps;
        steps.reserve(problem.intervals.size());
        for (const interval_us& one : problem.intervals)
            steps.push_back({std::min(one.low, length), std::min(one.high, length + 1)});
        steps_ = {steps, on_.stream()};
        starts_before_.reserve(candidates.count() + 1);
        starts_before_.push_back(0);
        const auto begins = problem.data.train_begins();
        for (std::size_t c = 0; c < candidates.count(); ++c) {
            const std::uint32_t unit = to_index(candidates.units_of(c)[0]);
            starts_before_.push_back(starts_before_.back() + begins[unit + 1] - begins[unit]);
        }
        starts_before_there_ = {starts_before_, on_.stream()};
        counts_.fill(0);
        last_end_.fill(0xff);
        p_ = {.trains = problem.data.trains(),
              .units = units_.data(),
              .delays = delays_.data(),
              .steps = steps_.data(),
              .starts_before = starts_before_there_.data(),
              .candidates = static_cast<std::uint32_t>(candidates.count()),
              .size = static_cast<std::uint32_t>(candidates.size),
              .by_order = problem.ties == tie_rule::order};
    }

    count_result count() {
        std::uint64_t together = std::max<std::uint64_t>(capacity_.most_occurrences / 4, 1);
        for (std::uint64_t first = 0; first < starts_before_.back();) {
            core::throw_if_stopped(problem_.run.stop);
            const auto now =
                static_cast<std::uint32_t>(std::min(together, starts_before_.back() - first));
            if (count_from(first, now)) {
                first += now;
                continue;
            }
            if (now == 1)
                throw_occurrence_capacity_exceeded(problem_.ordinal, capacity_.most_occurrences);
            together = now / 2;
        }
        return {counts_.downloaded(), 0, on_.kernel_seconds()};
    }

private:
    bool count_from(std::uint64_t first, std::uint32_t starts);
    std::uint32_t candidate_of(std::uint64_t start) const {
        return static_cast<std::uint32_t>(
            std::upper_bound(starts_before_.begin(), starts_before_.end(), start) -
            starts_before_.begin() - 1);
    }

    const device_problem& problem_;
    compaction_method how_;
    occurrence_capacity capacity_;
    std::vector<std::uint64_t> starts_before_;
    timed_stream on_;
    device::buffer<std::uint32_t> units_;
    device::buffer<std::uint32_t> delays_;
    device::buffer<interval_us> steps_;
    device::buffer<std::uint64_t> starts_before_there_;
    device::buffer<std::uint64_t> counts_;
    device::buffer<std::uint32_t> last_end_;
    list_problem p_{};
};

// Returns false if the occurrences from these starts do not fit.
bool occurrence_counter::count_from(std::uint64_t first, std::uint32_t starts) {
    partial_list now = starts_from(p_, first, starts, on_);
    for (std::uint32_t node = 0; node + 1 < p_.size && now.size > 0; ++node) {
        std::optional<partial_list> next = extended(p_, now, node, how_, capacity_, on_);
        if (!next) return false;
        now = std::move(*next);
    }
    if (now.size == 0) return true;
    const std::uint32_t first_candidate = candidate_of(first);
    const schedule_state to{first_candidate, candidate_of(first + starts - 1) - first_candidate + 1,
                            counts_.data(), last_end_.data()};
    if (how_ == compaction_method::atomic) {
        schedule_sorted(p_, std::move(now), to, on_);
    } else {
        schedule_ordered(p_, now, to, on_);
    }
    return true;
}

}  // namespace

count_result count_by_occurrences_within(const device_problem& problem,
                                         const candidate_set& candidates,
                                         const occurrence_capacity& capacity) {
    if (candidates.count() == 0) return {};
    const device::scoped_device scope(problem.ordinal);
    return occurrence_counter(problem, candidates, problem.compaction, capacity).count();
}

count_result count_by_occurrences_on_device(const device_problem& problem,
                                            const candidate_set& candidates, std::uint64_t) {
    return count_by_occurrences_within(problem, candidates,
                                       occurrence_capacity_of(device::limits_of(problem.ordinal)));
}

}  // namespace spikeweave::episodes
