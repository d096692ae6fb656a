#include "parallel/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "spikeweave/core/error.hpp"

namespace spikeweave::parallel {

namespace {

std::vector<std::size_t> costliest_first(std::span<const double> costs) {
    std::vector<std::size_t> tasks(costs.size());
    std::iota(tasks.begin(), tasks.end(), std::size_t{0});
    std::stable_sort(tasks.begin(), tasks.end(),
                     [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
    return tasks;
}

}  // namespace

std::vector<std::vector<std::size_t>> balance(std::span<const double> costs, int ranks) {
    if (ranks < 1) throw invalid_argument("work is split over at least one rank");
    for (const double cost : costs)
        if (!std::isfinite(cost) || cost < 0)
            throw invalid_argument("the cost of a task is a finite number, not below 0");

    const auto n = static_cast<std::size_t>(ranks);
    std::vector<std::vector<std::size_t>> shares(n);
    // Cost, tasks and rank. Among ranks with equal costs the one with fewer tasks is first, so that
    // tasks with cost 0 do not all go to one rank.
    using load = std::tuple<double, std::size_t, std::size_t>;
    std::priority_queue<load, std::vector<load>, std::greater<>> least;
    for (std::size_t rank = 0; rank < n; ++rank) least.emplace(0.0, 0, rank);
    for (const std::size_t task : costliest_first(costs)) {
        const auto [cost, tasks, rank] = least.top();
        least.pop();
        shares[rank].push_back(task);
        least.emplace(cost + costs[task], tasks + 1, rank);
    }
    for (auto& share : shares) std::sort(share.begin(), share.end());
    return shares;
}

}  // namespace spikeweave::parallel
