#include <vector>

#include "mine/spade/first_bin/part_searches.hpp"
#include "mine/spade/search/miners.hpp"

namespace spikeweave::spade {

mining_summary mine_first_bin(const spade_windows& windows, const pattern_mining_options& options,
                              const block_taker& take, const execution& run) {
    const rule_set rules(options.rules);
    const item_index items(windows, rules.least_occ(), run.stop);
    const preceding_spikes before(items, options.drop_window_subsets, run.stop);
    const std::vector<search_task> tasks = plan_search(items, rules.least_occ(), run.stop);
    std::vector<double> costs;
    costs.reserve(tasks.size());
    for (const search_task& task : tasks) costs.push_back(task.cost);
    part_searches all(items, before, options, rules, run.stop);
    mining_summary summary{.ran_on = spade_strategy::first_bin};
    for_each_part(
        costs, run,
        [&](std::size_t i, const part_taker& grown) { return all.run(tasks[i], grown); },
        [&](const mined_part& part) {
            summary.closed += part.summary.closed;
            summary.window_subsets += part.summary.window_subsets;
            summary.too_frequent += part.summary.too_frequent;
            if (!part.patterns.empty()) take(part.patterns);
        });
    return summary;
}

}  // namespace spikeweave::spade
