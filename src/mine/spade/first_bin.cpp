#include "mine/spade/closed_search.hpp"
#include "mine/spade/miners.hpp"
#include "mine/spade/rule_set.hpp"

namespace synfire::spade {
namespace {

// Collects what the rules take.
class collecting {
public:
    collecting(const catalogue& items, const spade_options& options)
        : items_(items), options_(options), rules_(options.rules) {
        table.window_bins = items.window_bins();
    }

    std::uint32_t least(std::uint32_t size, std::uint32_t units, std::uint32_t /*duration*/,
                        std::uint32_t more_items, std::uint32_t more_units) const {
        return rules_.least_above(size, units, more_items, more_units);
    }
    bool wants(std::uint32_t size, std::uint32_t units, std::uint32_t count,
               std::uint32_t /*duration*/) const {
        return rules_.take(size, units, count);
    }
    bool may_want(std::uint32_t size, std::uint32_t units, std::uint32_t count) const {
        return rules_.take(size, units, count);
    }
    void drop(const found_pattern&) {
        ++summary.closed;
        ++summary.window_subsets;
    }
    void take(const found_pattern& found) {
        const auto count = static_cast<std::uint32_t>(found.windows.size());
        ++summary.closed;
        if (options_.max_occ > 0 && count > options_.max_occ) {
            ++summary.too_frequent;
            return;
        }
        for (const auto id : found.ids) table.items.push_back(items_.item(id));
        table.item_offsets.push_back(table.items.size());
        table.counts.push_back(count);
        if (!options_.with_occurrences) return;
        for (const std::uint32_t window : found.windows)
            table.occurrences.push_back(items_.start(window));
        table.occurrence_offsets.push_back(table.occurrences.size());
    }

    pattern_table table{};
    mining_summary summary{};

private:
    const catalogue& items_;
    const spade_options& options_;
    rule_set rules_;
};

}  // namespace

mining_summary mine_first_bin(const spade_windows& windows, const spade_options& options,
                              const block_taker& take, const execution& run) {
    const catalogue items(windows, rule_set(options.rules).least_occ());
    collecting goal(items, options);
    const preceding_spikes before(items, options.drop_window_subsets);
    closed_search search(items, before, goal, run.stop);
    for (catalogue::item_id root = 0; root < items.first_bin_items(); ++root) {
        search.run(root, 0, std::numeric_limits<std::uint32_t>::max());
        take(goal.table);
        goal.table = {.window_bins = windows.window_bins()};
    }
    goal.summary.ran_on = spade_strategy::first_bin;
    return goal.summary;
}

}  // namespace synfire::spade
