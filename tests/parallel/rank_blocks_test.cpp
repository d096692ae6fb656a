#include "parallel/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "support/on_ranks.hpp"

namespace spikeweave::parallel {
namespace {

class RankBlocks : public testing::Test {
protected:
    void SetUp() override { SPIKEWEAVE_NEEDS_RANKS(); }
};

TEST_F(RankBlocks, FollowEachOtherAndHaveAllPieces) {
    on_ranks([](int, std::shared_ptr<communicator> all) {
        const execution run{.ranks = std::move(all)};
        for (const std::size_t n : {0, 1, 2, 7, 30}) {
            const rank_block own = block_of_rank(n, run);
            std::vector<std::uint64_t> pieces(own.size());
            std::iota(pieces.begin(), pieces.end(), own.begin);
            join_ranks(pieces, run);
            std::vector<std::uint64_t> expected(n);
            std::iota(expected.begin(), expected.end(), 0U);
            EXPECT_EQ(pieces, expected);
        }
    });
}

TEST_F(RankBlocks, CostAboutTheSame) {
    const std::vector<std::vector<double>> cases{
        {}, {1}, {0, 0, 0}, {9, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 0, 0, 2, 0, 5, 1, 1, 1, 0, 2}};
    on_ranks([&](int, std::shared_ptr<communicator> all) {
        const execution run{.ranks = std::move(all)};
        for (const std::vector<double>& costs : cases) {
            const rank_block own = block_of_rank(costs, run);
            std::vector<double> taken(costs.begin() + static_cast<std::ptrdiff_t>(own.begin),
                                      costs.begin() + static_cast<std::ptrdiff_t>(own.end));
            const double whole = std::accumulate(costs.begin(), costs.end(), 0.0);
            const double most = costs.empty() ? 0 : *std::ranges::max_element(costs);
            EXPECT_LE(std::accumulate(taken.begin(), taken.end(), 0.0),
                      whole / run.ranks->size() + most);
            join_ranks(taken, run);
            EXPECT_EQ(taken, costs);
        }
    });
}

TEST_F(RankBlocks, AreWholeInOneProcess) {
    const rank_block all = block_of_rank(5, {});
    EXPECT_EQ(std::pair(all.begin, all.end), std::pair(std::size_t{0}, std::size_t{5}));
    const rank_block costly = block_of_rank(std::vector<double>{3, 4}, {});
    EXPECT_EQ(std::pair(costly.begin, costly.end), std::pair(std::size_t{0}, std::size_t{2}));
}

TEST_F(RankBlocks, HaveSumsOfSignedNumbers) {
    on_ranks([](int rank, std::shared_ptr<communicator> all) {
        const std::int64_t ranks = all->size();
        const std::int64_t sum = ranks * (ranks - 1) / 2;
        std::vector<std::int64_t> values{rank, -rank, std::int64_t{-1} << 40};
        sum_ranks(values, {.ranks = std::move(all)});
        EXPECT_EQ(values, (std::vector<std::int64_t>{sum, -sum, -(ranks << 40)}));
    });
}

}  // namespace
}  // namespace spikeweave::parallel
