#include <utility>

#include "mine/spade/closed_search.hpp"
#include "mine/spade/distribute.hpp"
#include "mine/spade/miners.hpp"
#include "mine/spade/rule_set.hpp"
#include "mine/spade/tasks.hpp"

namespace synfire::spade {
namespace {

// Collects what the rules take.
class collecting : public wants_all_that_rules_take {
public:
    collecting(const catalogue& items, const spade_options& options, const rule_set& rules)
        : wants_all_that_rules_take(rules), items_(items), options_(options) {
        part.patterns.window_bins = items.window_bins();
    }

    void drop(const found_pattern& /*found*/) {
        ++part.summary.closed;
        ++part.summary.window_subsets;
    }
    void take(const found_pattern& found) {
        const auto count = static_cast<std::uint32_t>(found.windows.size());
        ++part.summary.closed;
        if (options_.max_occ > 0 && count > options_.max_occ) {
            ++part.summary.too_frequent;
            return;
        }
        pattern_table& to = part.patterns;
        for (const auto id : found.ids) to.items.push_back(items_.item(id));
        to.item_offsets.push_back(to.items.size());
        to.counts.push_back(count);
        if (!options_.with_occurrences) return;
        for (const std::uint32_t window : found.windows)
            to.occurrences.push_back(items_.start(window));
        to.occurrence_offsets.push_back(to.occurrences.size());
    }

    mined_part part{};

private:
    const catalogue& items_;
    const spade_options& options_;
};

}  // namespace

mining_summary mine_first_bin(const spade_windows& windows, const spade_options& options,
                              const block_taker& take, const execution& run) {
    const rule_set rules(options.rules);
    const catalogue items(windows, rules.least_occ());
    const preceding_spikes before(items, options.drop_window_subsets);
    const std::vector<search_task> tasks = plan_search(items, rules.least_occ());
    std::vector<double> costs;
    costs.reserve(tasks.size());
    for (const search_task& task : tasks) costs.push_back(task.cost);
    mining_summary summary = for_each_part(
        costs, run,
        [&](std::size_t i) {
            collecting goal(items, options, rules);
            closed_search(items, before, goal, run.stop)
                .run(tasks[i].root, tasks[i].first, tasks[i].last);
            return std::move(goal.part);
        },
        take);
    summary.ran_on = spade_strategy::first_bin;
    return summary;
}

}  // namespace synfire::spade
