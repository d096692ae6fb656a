// The published Algorithm 1: every candidate is a state machine with a list of open stamps for each
// of its nodes, and all of them see each spike once, in one pass.
//
// Where the printed text is ambiguous, this is the exact reading (docs/algorithms/episodes.md): a
// completion ends the candidate's turn for this spike, an append
// does not; a machine counts when its last node matches. Stamps beyond the interval are dropped
// from the front of their list, so the oldest stamp left alone decides whether a delay fits, and
// lists have no fixed capacity. Under tie_rule::time a start must in addition be later than the
// last completion.

#include <algorithm>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/search/counters.hpp"
#include "parallel/parallel_for.hpp"
#include "published/state_machine/stamp_list.hpp"

namespace spikeweave::episodes {
namespace {

// One node of one candidate, waiting for its unit.
struct waiting_node {
    std::uint32_t candidate;
    std::uint32_t node;
    std::int64_t low;
    std::int64_t high;
};

class machine_set {
public:
    machine_set(const counting_problem& problem, const candidate_set& candidates, std::size_t begin,
                std::size_t end)
        : problem_(problem),
          size_(candidates.size),
          waiting_(problem.spikes.unit_count()),
          open_((end - begin) * candidates.size),
          newest_(open_.size(), INT64_MIN / 2),
          last_completion_(end - begin, INT64_MIN),
          counts_(end - begin) {
        for (std::size_t c = begin; c < end; ++c) {
            // Later nodes first, so that a spike never serves two nodes in a row.
            for (std::size_t node = size_; node-- > 0;) {
                const interval_us step = node > 0
                                             ? problem.intervals[candidates.delays_of(c)[node - 1]]
                                             : interval_us{0, 0};
                waiting_[to_index(candidates.units_of(c)[node])].push_back(
                    {static_cast<std::uint32_t>(c - begin), static_cast<std::uint32_t>(node),
                     step.low, step.high});
            }
        }
    }

    std::vector<std::uint64_t> run() {
        constexpr std::size_t between_stop_checks = 1024;
        for (std::size_t i = 0; i < problem_.spikes.size(); ++i) {
            if (i % between_stop_checks == 0) core::throw_if_stopped(problem_.run.stop);
            see(problem_.spikes.times_us()[i], waiting_[to_index(problem_.spikes.units()[i])]);
        }
        return std::move(counts_);
    }

private:
    void see(std::int64_t time, const std::vector<waiting_node>& nodes) {
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            const waiting_node& node = nodes[n];
            stamp_list* const lists = &open_[node.candidate * size_];
            std::int64_t* const newest = &newest_[node.candidate * size_];
            if (node.node == 0) {
                if (problem_.ties == tie_rule::order || time > last_completion_[node.candidate]) {
                    lists[0].push_back(time);
                    newest[0] = time;
                }
                continue;
            }
            // Usually no stamp is still open, and the newest stamp shows that without reading the
            // list.
            if (time - newest[node.node - 1] > node.high) continue;
            stamp_list& before = lists[node.node - 1];
            while (!before.empty() && time - before.front() > node.high) before.pop_front();
            if (before.empty() || time - before.front() <= node.low) continue;
            if (node.node + 1 < size_) {
                lists[node.node].push_back(time);
                newest[node.node] = time;
                continue;
            }
            ++counts_[node.candidate];
            last_completion_[node.candidate] = time;
            std::for_each(lists, lists + size_, [](stamp_list& list) { list.clear(); });
            while (n + 1 < nodes.size() && nodes[n + 1].candidate == node.candidate) ++n;
        }
    }

    const counting_problem& problem_;
    std::size_t size_;
    std::vector<std::vector<waiting_node>> waiting_;
    std::vector<stamp_list> open_;
    std::vector<std::int64_t> newest_;  // newest stamp of each list, even if it was cleared since
    std::vector<std::int64_t> last_completion_;
    std::vector<std::uint64_t> counts_;
};

}  // namespace

count_result count_by_state_machine(const counting_problem& problem,
                                    const candidate_set& candidates, std::uint64_t) {
    count_result result{std::vector<std::uint64_t>(candidates.count())};
    const auto shares =
        std::min(candidates.count(), static_cast<std::size_t>(thread_count(problem.run)));
    parallel::parallel_for(
        shares, problem.run, "counting by state machines", [&](std::size_t share) {
            const std::size_t begin = candidates.count() * share / shares;
            const std::size_t end = candidates.count() * (share + 1) / shares;
            const auto counts = machine_set(problem, candidates, begin, end).run();
            std::copy(counts.begin(), counts.end(),
                      result.counts.begin() + static_cast<std::ptrdiff_t>(begin));
        });
    return result;
}

}  // namespace spikeweave::episodes
