#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Two units follow each other 400 times in 400 s; of two others, one follows 15 spikes of the
// other.
spike_sequence two_busy_and_two_quiet_units() {
    spike_sequence_builder builder;
    const std::vector<unit_id> units{builder.unit("a"), builder.unit("b"), builder.unit("c"),
                                     builder.unit("d")};
    for (std::int64_t second = 0; second < 400; ++second) {
        const std::int64_t at = 1'000'000 * second;
        builder.append(at, units[0]);
        builder.append(at + 3'000, units[1]);
        if (second < 15) {
            builder.append(at + 500'000, units[2]);
            builder.append(at + 503'000, units[3]);
        }
    }
    return builder.finish();
}

std::vector<std::string> warnings_of_untested(const episode_options& options) {
    std::vector<std::string> out = find_episodes(two_busy_and_two_quiet_units(), options).warnings;
    std::erase_if(out,
                  [](const std::string& one) { return one.find("no pair") == std::string::npos; });
    return out;
}

TEST(UntestedUnits, AreNamedIfTheThresholdWasChosenByDefault) {
    EXPECT_EQ(warnings_of_untested({}),
              std::vector<std::string>{
                  "2 of 4 units are in no pair that was tested: none of their pairs has the 20 "
                  "occurrences that `min_count` is by default: c, d. Nothing is known of their "
                  "connections; `max_size` 2 with `min_count` 10 tests more of them."});
}

TEST(UntestedUnits, AreThoseThatTheUserChoseOtherwise) {
    episode_options options;
    options.mining.min_count = 20;
    EXPECT_TRUE(warnings_of_untested(options).empty());
    options.mining.min_count.reset();
    options.mining.max_size = 1;
    EXPECT_TRUE(warnings_of_untested(options).empty());
}

TEST(UntestedUnits, AreTestedAsTheWarningSays) {
    episode_options options;
    options.mining.min_count = 10;
    options.mining.max_size = 2;

    const episode_result found = find_episodes(two_busy_and_two_quiet_units(), options);

    const auto is_of_quiet_units = [](const counted_episode& one) {
        return one.what.units == std::vector<unit_id>{unit_id{2}, unit_id{3}};
    };
    EXPECT_TRUE(std::ranges::any_of(found.table.episodes, is_of_quiet_units));
}

}  // namespace
}  // namespace spikeweave
