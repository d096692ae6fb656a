#include "spikeweave/elephant/surrogates.hpp"

#include <gtest/gtest.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// Two units that fire together in the first `together` of 100 bins.
binned_spikes pair_in(std::uint32_t together) {
    std::vector<std::uint32_t> bins;
    for (int unit = 0; unit < 2; ++unit)
        for (std::uint32_t bin = 0; bin < together; ++bin) bins.push_back(bin);
    return {{0, together, 2 * together}, std::move(bins), 100};
}

TEST(ElephantSurrogateMiner, GivesTheShareOfSurrogatesThatReachEachSignature) {
    elephant_surrogate_miner miner({}, 2);
    for (const std::uint32_t together : {3U, 5U, 5U, 4U}) miner.add(pair_in(together));
    const pvalue_spectrum spectrum = miner.spectrum();

    EXPECT_EQ(spectrum.surrogates, 4U);
    EXPECT_EQ(spectrum.reached({.size = 2, .count = 3}), 4U);
    EXPECT_EQ(spectrum.reached({.size = 2, .count = 5}), 2U);
    EXPECT_EQ(spectrum.reached({.size = 2, .count = 6}), 0U);
}

TEST(ElephantSurrogateMiner, ThrowsWhatTheSearchThrew) {
    elephant_mining_options options;
    options.mining.rules.front().min_occ = 0;
    elephant_surrogate_miner miner(options, 1);
    miner.add(pair_in(3));
    EXPECT_THROW(static_cast<void>(miner.spectrum()), invalid_argument);
}

TEST(ElephantSurrogateMiner, MinesNoMoreOnceClosed) {
    elephant_surrogate_miner miner({}, 1);
    miner.add(pair_in(3));
    miner.close();
    EXPECT_THROW(miner.add(pair_in(3)), invalid_argument);
}

TEST(ElephantMining, FindsNothingByAnImpossibleRule) {
    elephant_mining_options options;
    options.mining.rules.front() = {.min_occ = 2, .min_spikes = 3, .max_spikes = 2};
    EXPECT_TRUE(options.is_impossible());
    EXPECT_TRUE(mine_as_elephant(pair_in(5), options).table.empty());
    EXPECT_TRUE(count_as_elephant(pair_in(5), options).empty());
}

}  // namespace
}  // namespace spikeweave
