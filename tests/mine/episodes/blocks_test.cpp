#include "spikeweave/mine/episodes/blocks.hpp"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/blocks_of.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using std::chrono_literals::operator""us;

// Everything but times and bytes.
void expect_same_search(const episode_table& in_blocks, const episode_table& in_memory,
                        const std::string& what) {
    ASSERT_EQ(in_blocks.threshold, in_memory.threshold) << what;
    ASSERT_EQ(in_blocks.episodes, in_memory.episodes) << what;
    ASSERT_EQ(in_blocks.levels.size(), in_memory.levels.size()) << what;
    for (std::size_t i = 0; i < in_memory.levels.size(); ++i) {
        EXPECT_EQ(in_blocks.levels[i].size, in_memory.levels[i].size) << what;
        EXPECT_EQ(in_blocks.levels[i].candidates, in_memory.levels[i].candidates) << what;
        EXPECT_EQ(in_blocks.levels[i].frequent, in_memory.levels[i].frequent) << what;
    }
}

episode_mining_options random_options(random_streams& draw) {
    episode_mining_options options{.max_size = draw.below(5)};
    for (std::uint64_t n = 1 + draw.below(3); n > 0; --n) options.delays.push_back(draw.interval());
    options.ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
    options.self_repeats = draw.below(2) == 0;
    constexpr pair_method methods[] = {pair_method::automatic, pair_method::merge,
                                       pair_method::look_back};
    options.pairs = methods[draw.below(3)];
    switch (draw.below(4)) {
        case 0:
            options.min_fraction = 0.01 * static_cast<double>(1 + draw.below(10));
            break;
        case 1:
            options.min_rate = 20'000;
            break;
        default:
            options.min_count = 2 + draw.below(4);
    }
    // Without a bound of the size, everything is frequent in a burst.
    if (options.max_size == 0 && options.min_count) options.min_count = 6;
    if (options.max_size == 0 && !options.min_count) options.max_size = 3;
    return options;
}

TEST(EpisodesInBlocks, AreThoseFoundInMemoryWhereverTheBordersLie) {
    for (std::uint64_t seed = 0; seed < property_cases(2000); ++seed) {
        random_streams draw(seed);
        const spike_sequence spikes = draw.spikes(80, 3);
        const episode_mining_options options = random_options(draw);
        // Blocks of no spike, one or some; pieces of one spike or some.
        const std::uint64_t longest = 1 + draw.below(9);
        blocks_of blocks(spikes, [&] { return draw.below(longest + 1); });
        const std::size_t at_once = 1 + draw.below(12);

        const episodes_in_blocks found = mine_episodes(blocks, options, {.threads = 1}, at_once);

        ASSERT_EQ(found.unit_names, spikes.unit_names());
        ASSERT_EQ(found.spikes, spikes.size());
        expect_same_search(found.table, mine_episodes(spikes, options, {.threads = 1}),
                           "seed " + std::to_string(seed));
        if (HasFatalFailure()) return;
    }
}

TEST(EpisodesInBlocks, AreTheSameInLongerStreamsOnSeveralThreads) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const spike_sequence spikes = bursting_stream(seed, 6, 8'000, 400'000);
        random_streams draw(seed);
        const episode_mining_options options{
            .delays = {{0us, 30us}, {30us, 60us}, {50us, 90us}},
            .min_count = 20,
            .ties = seed % 2 == 0 ? tie_rule::time : tie_rule::order};
        blocks_of blocks(spikes, [&] { return draw.below(700); });

        const episodes_in_blocks found = mine_episodes(blocks, options, {.threads = 3}, 300);

        ASSERT_GT(found.table.levels.size(), 3U);
        expect_same_search(found.table, mine_episodes(spikes, options), std::to_string(seed));
    }
}

TEST(EpisodesInBlocks, HaveTheDefaultThresholdOfTheWholeRecording) {
    // So many pairs are frequent that they raise the threshold.
    const spike_sequence spikes = bursting_stream(11, 40, 30'000, 300'000);
    const episode_mining_options options{.delays = {{0us, 30us}, {30us, 60us}}, .max_size = 2};
    blocks_of blocks(spikes, [] { return 1'000; });

    const episodes_in_blocks found = mine_episodes(blocks, options, {}, 5'000);

    ASSERT_GT(found.table.threshold, 38U);  // a twentieth of a unit's spikes
    expect_same_search(found.table, mine_episodes(spikes, options), "default threshold");
}

// Gives every spike twice, the second time in the next block.
class doubled_blocks final : public spike_blocks {
public:
    explicit doubled_blocks(std::vector<std::int64_t> times) : times_(std::move(times)) {}
    void rewind() override { at_ = 0; }
    bool next(spike_block& block) override {
        block.clear();
        if (at_ == 2 * times_.size()) return false;
        block.append(times_[at_ / 2], unit_id{static_cast<std::uint32_t>(at_ / 2 % 2)});
        ++at_;
        return true;
    }
    const std::vector<std::string>& unit_names() const override { return names_; }

private:
    std::vector<std::int64_t> times_;
    std::vector<std::string> names_{"a", "b"};
    std::size_t at_ = 0;
};

TEST(EpisodesInBlocks, CountASpikeThatIsGivenTwiceOnce) {
    doubled_blocks blocks({0, 3, 10, 13, 20, 23});

    const episodes_in_blocks found =
        mine_episodes(blocks, {.delays = {{0us, 5us}}, .min_count = 1}, {}, 1);

    EXPECT_EQ(found.duplicates, 6U);
    EXPECT_EQ(found.spikes, 6U);
    EXPECT_EQ(found.spikes_of_units, (std::vector<std::uint64_t>{3, 3}));
    EXPECT_EQ(found.table.episodes.back(),
              (counted_episode{{{unit_id{0}, unit_id{1}}, {{0us, 5us}}}, 3}));
}

TEST(EpisodesInBlocks, RefuseSpikesThatAreOutOfOrder) {
    doubled_blocks blocks({0, 3, 2});

    EXPECT_EQ(text_of([&] {
                  mine_episodes(blocks, {.delays = {{0us, 5us}}, .min_count = 1});
              }),
              "spike 4 is earlier than the one before it");
}

TEST(EpisodesInBlocks, AreCountedByLatestStartOnTheCpuOnly) {
    const spike_sequence spikes = bursting_stream(1, 2, 20, 1000);
    blocks_of blocks(spikes, [] { return 5; });
    const episode_mining_options segments{
        .delays = {{0us, 5us}}, .min_count = 1, .strategy = episode_strategy::segments};
    const episode_mining_options usual{.delays = {{0us, 5us}}, .min_count = 1};

    EXPECT_THROW(mine_episodes(blocks, segments), invalid_argument);
    EXPECT_THROW(mine_episodes(blocks, usual, {.devices = {0}}), invalid_argument);
    EXPECT_THROW(mine_episodes(blocks, usual, {}, 0), invalid_argument);
}

TEST(EpisodesInBlocks, EndWhenAStopIsRequested) {
    const spike_sequence spikes = bursting_stream(1, 2, 20, 1000);
    blocks_of blocks(spikes, [] { return 5; });
    std::stop_source source;
    source.request_stop();

    EXPECT_THROW(mine_episodes(blocks, {.delays = {{0us, 5us}}, .min_count = 1},
                               {.stop = source.get_token()}),
                 cancelled);
}

}  // namespace
}  // namespace spikeweave
