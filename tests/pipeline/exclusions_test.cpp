#include <gtest/gtest.h>

#include <algorithm>

#include "spikeweave/pipeline/assemblies.hpp"
#include "spikeweave/pipeline/bursts.hpp"
#include "spikeweave/pipeline/compare/episodes.hpp"
#include "spikeweave/pipeline/compare/spade.hpp"
#include "spikeweave/pipeline/episodes/blocks.hpp"
#include "spikeweave/pipeline/episodes/windows.hpp"
#include "spikeweave/pipeline/replay.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave {
namespace {

template <class Options>
class Exclusions : public testing::Test {};

using all_options =
    testing::Types<assembly_analysis_options, burst_analysis_options, episode_options,
                   given_episode_options, windowed_episode_options, episodes_in_blocks_options,
                   episode_comparison_options, pattern_comparison_options, replay_analysis_options,
                   spade_options, sort_options>;
TYPED_TEST_SUITE(Exclusions, all_options);

TYPED_TEST(Exclusions, AreDeclaredAtOneEndOfOptionsThatThereAre) {
    TypeParam options;
    const option_list list = describe(options);
    ASSERT_GT(list.size(), 2U);
    for (const option& one : list) {
        EXPECT_TRUE(one.needs.empty() || list.has(one.needs)) << one.name;
        for (const std::string& other : one.excludes) {
            ASSERT_TRUE(list.has(other)) << one.name << " excludes " << other;
            const auto& back = list.find(other).excludes;
            EXPECT_EQ(std::ranges::count(back, one.name), 0)
                << one.name << " and " << other << " exclude each other";
        }
    }
}

}  // namespace
}  // namespace spikeweave
