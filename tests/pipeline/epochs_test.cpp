#include "spikeweave/pipeline/epochs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

spike_sequence ten_seconds() {
    return simulate_poisson({.units = 4, .length = 10s, .seed = 1}).spikes;
}

TEST(ChooseTime, TakesNothingAwayIfNothingIsChosen) {
    const spike_sequence spikes = ten_seconds();
    const chosen_time chosen = choose_time(spikes, {});
    EXPECT_FALSE(chosen.spikes);
    EXPECT_EQ(&chosen.of(spikes), &spikes);
}

TEST(ChooseTime, CutsTrialsFromTheBeginningOfThePart) {
    const chosen_time chosen =
        choose_time(ten_seconds(),
                    {.t_start = 1s, .t_stop = 4s, .trial_length = 1s, .trial_separation = 500ms});
    ASSERT_TRUE(chosen.spikes);
    EXPECT_EQ(std::vector(chosen.spikes->epochs().begin(), chosen.spikes->epochs().end()),
              (std::vector<time_span>{{1s, 2s}, {2'500ms, 3'500ms}}));
    ASSERT_EQ(chosen.warnings.size(), 1U);
    EXPECT_NE(chosen.warnings[0].find("are in no epoch"), std::string::npos);
}

TEST(ChooseTime, SaysThatTheLastTrialIsCutOff) {
    const chosen_time chosen =
        choose_time(ten_seconds(), {.t_start = 1s, .t_stop = 3'400ms, .trial_length = 1s});
    ASSERT_TRUE(chosen.spikes);
    EXPECT_EQ(chosen.spikes->epochs().back(), (time_span{3s, 3'400'001us}));
    ASSERT_EQ(chosen.warnings.size(), 2U);
    EXPECT_EQ(chosen.warnings[0],
              "The last of 3 trials is 400 ms long instead of 1 s, because the time that is "
              "analysed ends at 3.4 s: it is used as it is.");
}

TEST(ChooseTime, RefusesWhatCannotBe) {
    const spike_sequence spikes = ten_seconds();
    EXPECT_THROW(choose_time(spikes, {.t_start = 20s}), invalid_argument);
    EXPECT_THROW(choose_time(spikes, {.epochs = {{20s, 21s}}}), invalid_argument);
    EXPECT_THROW(choose_time(spikes, {.epochs = {{1s, 1s}}}), invalid_argument);
    EXPECT_THROW(choose_time(spikes, {.epochs = {{1s, 3s}, {2s, 4s}}}), invalid_argument);
    EXPECT_THROW(choose_time(spikes, {.trial_length = -1s}), invalid_argument);
    EXPECT_THROW(choose_time(spikes, {.t_start = 1s, .epochs = {{1s, 2s}}}), invalid_argument);
}

// All ten connections are found in three quarters of the time, in pieces of 300 ms.
TEST(FindEpisodes, FindsPlantedChainsInEpochs) {
    const spike_sequence spikes = simulate_sym26({.length = 120s, .seed = 1}).spikes;
    episode_options options{.time = {.trial_length = 300ms, .trial_separation = 100ms}};
    for (const std::uint32_t surrogates : {0U, 200U}) {
        if (is_shortened_run() && surrogates > 0) continue;
        options.surrogates.surrogates = surrogates;
        const episode_result found = find_episodes(spikes, options);
        ASSERT_TRUE(found.chosen);
        EXPECT_EQ(found.chosen->observed_time(), 90s);
        std::size_t direct = 0;
        for (const circuit_edge& edge : found.circuit.edges)
            direct += edge.kind == edge_kind::direct ? 1 : 0;
        EXPECT_EQ(direct, 10U);
    }
}

}  // namespace
}  // namespace spikeweave
