#include "mine/spade/first_bin/tasks.hpp"

#include <algorithm>
#include <span>

#include "core/stop.hpp"

namespace spikeweave::spade {
namespace {

// To begin a task costs a walk over the root's windows, so tasks are not made too small.
constexpr double tasks_wanted = 1024;

// The number of windows that a root shares with each later item, ascending, that is, by rank from 1
// on. Roots are examined one at a time, since all together would need a table of units × items.
class shared_windows {
public:
    shared_windows(const item_index& items, std::uint32_t least_occ)
        : items_(items), least_occ_(least_occ), counts_(items.size(), 0) {}

    std::span<const std::uint32_t> of(item_index::item_id root, const std::stop_token& stop) {
        shared_.clear();
        std::size_t step = 0;
        for (const std::uint32_t window : items_.windows_of(root)) {
            core::stop_at_times(step++, stop);
            for (const item_index::item_id id : items_.row(window)) ++counts_[id];
        }
        for (std::size_t id = root + std::size_t{1}; id < counts_.size(); ++id)
            if (counts_[id] >= least_occ_) shared_.push_back(counts_[id]);
        std::sort(shared_.begin(), shared_.end());
        std::fill(counts_.begin(), counts_.end(), 0);
        return shared_;
    }

private:
    const item_index& items_;
    std::uint32_t least_occ_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> shared_;
};

double cost_of(std::uint32_t windows) {
    return static_cast<double>(windows) * windows;
}

}  // namespace

std::vector<search_task> plan_search(const item_index& items, std::uint32_t least_occ,
                                     const std::stop_token& stop) {
    shared_windows shared(items, least_occ);
    double total = 0;
    for (item_index::item_id root = 0; root < items.first_bin_items(); ++root)
        for (const std::uint32_t windows : shared.of(root, stop)) total += cost_of(windows);
    const double most = total / tasks_wanted;
    std::vector<search_task> tasks;
    for (item_index::item_id root = 0; root < items.first_bin_items(); ++root) {
        search_task task{root, 0, past_all_ranks, 0};
        std::uint32_t rank = 0;
        for (const std::uint32_t windows : shared.of(root, stop)) {
            ++rank;
            if (task.cost > 0 && task.cost + cost_of(windows) > most) {
                task.last = rank;
                tasks.push_back(task);
                task = {root, rank, past_all_ranks, 0};
            }
            task.cost += cost_of(windows);
        }
        tasks.push_back(task);
    }
    return tasks;
}

}  // namespace spikeweave::spade
