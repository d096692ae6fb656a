// The published Algorithms 4 and 5: first a cheap upper bound for all candidates, then the state
// machine for the remaining ones.
//
// The bound keeps one stamp a node and tests only the upper end of an interval, without its lower
// end: it counts in windows [0, high]. That never counts less than (low, high] does, also with
// simultaneous spikes and repeated units; a strict test against 0 would, because the newest stamp
// may hide an older one that is needed.

#include <algorithm>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/search/counters.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {
namespace {

constexpr std::int64_t never =
    INT64_MIN / 2;  // so far back that no interval reaches it and no difference overflows

struct relaxed_node {
    std::uint32_t candidate;
    std::uint32_t node;
    std::int64_t high;
};

std::vector<std::uint64_t> upper_bounds(const counting_problem& problem,
                                        const candidate_set& candidates, std::size_t begin,
                                        std::size_t end) {
    const std::size_t size = candidates.size;
    std::vector<std::vector<relaxed_node>> waiting(problem.spikes.unit_count());
    for (std::size_t c = begin; c < end; ++c) {
        for (std::size_t node = size; node-- > 0;) {
            waiting[to_index(candidates.units_of(c)[node])].push_back(
                {static_cast<std::uint32_t>(c - begin), static_cast<std::uint32_t>(node),
                 node > 0 ? problem.intervals[candidates.delays_of(c)[node - 1]].high : 0});
        }
    }
    std::vector<std::int64_t> stamps((end - begin) * size, never);
    std::vector<std::uint64_t> bounds(end - begin);
    for (std::size_t i = 0; i < problem.spikes.size(); ++i) {
        if (i % 1024 == 0) core::throw_if_stopped(problem.run.stop);
        const std::int64_t time = problem.spikes.times_us()[i];
        const auto& nodes = waiting[to_index(problem.spikes.units()[i])];
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            const relaxed_node& node = nodes[n];
            std::int64_t* const mine = &stamps[node.candidate * size];
            if (node.node > 0 && time - mine[node.node - 1] > node.high) continue;
            if (node.node + 1 < size) {
                mine[node.node] = time;
                continue;
            }
            ++bounds[node.candidate];
            std::fill(mine, mine + size, never);
            while (n + 1 < nodes.size() && nodes[n + 1].candidate == node.candidate) ++n;
        }
    }
    return bounds;
}

}  // namespace

count_result count_by_two_pass(const counting_problem& problem, const candidate_set& candidates,
                               std::uint64_t at_least) {
    count_result result{std::vector<std::uint64_t>(candidates.count())};
    const auto shares =
        std::min(candidates.count(), static_cast<std::size_t>(thread_count(problem.run)));
    parallel::parallel_for(shares, problem.run, "bounding counts", [&](std::size_t share) {
        const std::size_t begin = candidates.count() * share / shares;
        const auto bounds =
            upper_bounds(problem, candidates, begin, candidates.count() * (share + 1) / shares);
        std::copy(bounds.begin(), bounds.end(),
                  result.counts.begin() + static_cast<std::ptrdiff_t>(begin));
    });

    candidate_set left{candidates.size};
    std::vector<std::size_t> chosen;
    for (std::size_t c = 0; c < candidates.count(); ++c) {
        if (result.counts[c] < at_least) {
            result.counts[c] = 0;
        } else {
            left.append(candidates.units_of(c), candidates.delays_of(c));
            chosen.push_back(c);
        }
    }
    const count_result exact = count_by_state_machine(problem, left, at_least);
    for (std::size_t i = 0; i < chosen.size(); ++i) result.counts[chosen[i]] = exact.counts[i];
    return result;
}

}  // namespace spikeweave::episodes
