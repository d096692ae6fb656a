#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/device_set.hpp"
#include "mine/episodes/search/episode_lists.hpp"
#include "mine/episodes/search/strategy.hpp"
#include "mine/episodes/search/threshold.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

episode_count_result count_episodes(const spike_sequence& spikes, std::span<const episode> given,
                                    const episode_count_options& options, const execution& shared) {
    const execution run = parallel::without_ranks(shared);
    const episodes::episode_lists lists(given, spikes.unit_count());
    episode_count_result result{std::vector<std::uint64_t>(given.size()),
                                episodes::chosen(options.strategy, run), 0, run.devices};
    result.compacted_by = episodes::chosen(options.compaction, result.ran_on, run);
    if (result.ran_on == episode_strategy::hybrid)
        result.warnings = episodes::warnings_of_hybrid(run.devices);
    const separated_epochs apart(spikes, lists.reach);
    const episodes::counting_problem problem{apart.spikes(), lists.intervals,    options.ties, run,
                                             options.split,  result.compacted_by};
    episodes::check_split(options.split, result.ran_on);
    std::optional<episodes::device_set> devices;
    if (!run.devices.empty()) devices.emplace(problem);
    for (const auto& [candidates, which] : lists.lists) {
        if (candidates.size == 1) {
            const std::vector<std::uint64_t> spikes_of = episodes::spikes_per_unit(spikes, run);
            for (const std::size_t i : which)
                result.counts[i] = spikes_of[to_index(given[i].units[0])];
            continue;
        }
        const auto counted =
            devices ? episodes::count_on_devices(devices->problems(),
                                                 episodes::device_counter_of(result.ran_on),
                                                 candidates, options.at_least)
                    : episodes::counter_of(result.ran_on)(problem, candidates, options.at_least);
        for (std::size_t k = 0; k < which.size(); ++k) result.counts[which[k]] = counted.counts[k];
        result.merge_misses += counted.merge_misses;
        result.kernel_seconds += counted.kernel_seconds;
    }
    return result;
}

}  // namespace spikeweave

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
