// Latest-start counting of a given list of candidates on one device.

#include <utility>
#include <vector>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/latest_start/cuda/time_split.hpp"
#include "mine/episodes/latest_start/cuda/worker.hpp"

namespace spikeweave::episodes {

count_result count_by_latest_start_on_device(const device_problem& problem,
                                             const candidate_set& candidates,
                                             std::uint64_t at_least) {
    if (candidates.count() == 0) return {};
    if (candidates.count() == 1 && !needs_segments(problem, false)) {
        if (auto counted = count_by_time_slices(problem, candidates)) return *std::move(counted);
    }
    if (needs_segments(problem)) return count_over_time(std::span(&problem, 1), candidates, 1);
    const device::scoped_device scope(problem.ordinal);
    const episode_trie trie(candidates);
    latest_start_worker worker(problem);
    std::vector<std::uint64_t> leaves(trie.levels.back().size());
    worker.count_leaves(trie, at_least, [&](std::size_t first, const known_lists& here) {
        for (std::size_t i = 0; i < here.counts.size(); ++i)
            leaves[first + i] = here.counts[i].count;
    });
    count_result result;
    result.counts.reserve(candidates.count());
    for (const std::uint32_t leaf : trie.leaf_of) result.counts.push_back(leaves[leaf]);
    result.kernel_seconds = worker.kernel_seconds();
    return result;
}

}  // namespace spikeweave::episodes
