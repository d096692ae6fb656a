#include "mine/spade/tasks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace synfire::spade {
namespace {

// Beginning a task costs a walk over the root's windows, so they are not made too small.
constexpr double tasks_wanted = 1024;
constexpr std::uint32_t past_all_ranks = std::numeric_limits<std::uint32_t>::max();

// For every root, how many windows it shares with each later item, ascending: by rank from 1 on.
std::vector<std::vector<std::uint32_t>> shared_windows(const catalogue& items,
                                                       std::uint32_t least_occ) {
    std::vector<std::vector<std::uint32_t>> shared(items.first_bin_items());
    std::vector<std::uint32_t> counts(items.size(), 0);
    for (catalogue::item_id root = 0; root < items.first_bin_items(); ++root) {
        for (const std::uint32_t window : items.windows_of(root))
            for (const catalogue::item_id id : items.row(window)) ++counts[id];
        for (std::size_t id = root + std::size_t{1}; id < items.size(); ++id)
            if (counts[id] >= least_occ) shared[root].push_back(counts[id]);
        std::sort(shared[root].begin(), shared[root].end());
        std::fill(counts.begin(), counts.end(), 0);
    }
    return shared;
}

double cost_of(std::uint32_t windows) {
    return static_cast<double>(windows) * windows;
}

}  // namespace

std::vector<search_task> plan_search(const catalogue& items, std::uint32_t least_occ) {
    const std::vector<std::vector<std::uint32_t>> shared = shared_windows(items, least_occ);
    double total = 0;
    for (const std::vector<std::uint32_t>& of_root : shared)
        for (const std::uint32_t windows : of_root) total += cost_of(windows);
    const double most = total / tasks_wanted;
    std::vector<search_task> tasks;
    for (catalogue::item_id root = 0; root < items.first_bin_items(); ++root) {
        search_task task{root, 0, past_all_ranks, 0};
        for (std::uint32_t rank = 1; rank <= shared[root].size(); ++rank) {
            const double cost = cost_of(shared[root][rank - 1]);
            if (task.cost > 0 && task.cost + cost > most) {
                task.last = rank;
                tasks.push_back(task);
                task = {root, rank, past_all_ranks, 0};
            }
            task.cost += cost;
        }
        tasks.push_back(task);
    }
    return tasks;
}

}  // namespace synfire::spade
