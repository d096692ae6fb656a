#include "parallel/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {
namespace {

using shares = std::vector<std::vector<std::size_t>>;

double costliest(const shares& split, const std::vector<double>& costs) {
    double most = 0;
    for (const auto& share : split) {
        double sum = 0;
        for (const std::size_t task : share) sum += costs[task];
        most = std::max(most, sum);
    }
    return most;
}

// Returns the lowest cost of the costliest rank over all splits.
double best_split(const std::vector<double>& costs, std::vector<double>& loads, std::size_t task) {
    if (task == costs.size()) return *std::max_element(loads.begin(), loads.end());
    double best = std::numeric_limits<double>::infinity();
    for (double& load : loads) {
        load += costs[task];
        best = std::min(best, best_split(costs, loads, task + 1));
        load -= costs[task];
    }
    return best;
}

TEST(Balance, GivesTheCostliestFirstToWhoHasLeast) {
    EXPECT_EQ(parallel::balance(std::vector<double>{1, 5, 3, 3, 2}, 2),
              (shares{{1, 4}, {0, 2, 3}}));
    EXPECT_EQ(parallel::balance(std::vector<double>{1, 5, 3, 3, 2}, 1), (shares{{0, 1, 2, 3, 4}}));
    EXPECT_EQ(parallel::balance(std::vector<double>{4, 4}, 3), (shares{{0}, {1}, {}}));
    EXPECT_EQ(parallel::balance({}, 2), (shares{{}, {}}));
}

TEST(Balance, BreaksTiesByIndexAndSpreadsWhatCostsNothing) {
    EXPECT_EQ(parallel::balance(std::vector<double>(5, 1), 2), (shares{{0, 2, 4}, {1, 3}}));
    EXPECT_EQ(parallel::balance(std::vector<double>(5, 0), 2), (shares{{0, 2, 4}, {1, 3}}));
}

TEST(Balance, RefusesWhatIsNoCost) {
    for (const double cost :
         {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(parallel::balance(std::vector<double>{1, cost}, 2), invalid_argument);
    EXPECT_THROW(parallel::balance(std::vector<double>{1}, 0), invalid_argument);
}

TEST(Balance, IsNeverFarFromTheBestSplit) {
    for (std::uint32_t draw = 0; draw < 200; ++draw) {
        random_stream random(7, random_purpose::poisson_spikes, draw);
        std::vector<double> costs(1 + random.below(8));
        for (double& cost : costs) cost = static_cast<double>(random.below(20));
        for (const int ranks : {1, 2, 3}) {
            const shares split = parallel::balance(costs, ranks);
            std::vector<int> times(costs.size());
            for (const auto& share : split) {
                EXPECT_TRUE(std::is_sorted(share.begin(), share.end()));
                for (const std::size_t task : share) ++times[task];
            }
            EXPECT_EQ(times, std::vector<int>(costs.size(), 1));
            std::vector<double> loads(static_cast<std::size_t>(ranks));
            EXPECT_LE(costliest(split, costs), best_split(costs, loads, 0) * 4 / 3 + 1e-9);
        }
    }
}

}  // namespace
}  // namespace spikeweave
