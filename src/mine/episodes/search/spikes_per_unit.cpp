#include "mine/episodes/search/threshold.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {

std::vector<std::uint64_t> spikes_per_unit(const spike_sequence& spikes, const execution& run) {
    // Counting fewer spikes than this takes less time than adding up the results; more tasks than
    // this would wait for memory.
    constexpr std::size_t least_of_a_task = std::size_t{1} << 18;
    constexpr std::size_t most_tasks = 16;
    const std::size_t units = spikes.unit_count();
    const std::size_t tasks =
        std::clamp<std::size_t>(spikes.size() / std::max(least_of_a_task, units), 1, most_tasks);
    std::vector<std::vector<std::uint64_t>> counts(tasks);
    execution silent = run;
    silent.on_progress = nullptr;
    parallel::parallel_for(tasks, silent, "spikes per unit", [&](std::size_t task) {
        const std::size_t begin = spikes.size() * task / tasks;
        const std::size_t end = spikes.size() * (task + 1) / tasks;
        std::vector<std::uint64_t> mine(units);
        for (const unit_id unit : spikes.units().subspan(begin, end - begin))
            ++mine[to_index(unit)];
        counts[task] = std::move(mine);
    });
    std::vector<std::uint64_t> all = std::move(counts.front());
    for (std::size_t task = 1; task < tasks; ++task) {
        for (std::size_t u = 0; u < units; ++u) all[u] += counts[task][u];
    }
    return all;
}

}  // namespace spikeweave::episodes
