#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

const execution window_alone{.threads = 1};

episode_window_options sliding_options(window_method method = window_method::incremental) {
    using std::chrono_literals::operator""us;
    return {.length = 20'000us,
            .hop = 1'000us,
            .mining = {.delays = {{0us, 30us}, {30us, 60us}}, .min_count = 12, .max_size = 4},
            .method = method};
}

constexpr std::int64_t stream_length = 60'000;
constexpr std::size_t stream_windows = 41;  // with a hop of 1,000

spike_sequence sliding_stream(std::uint64_t seed) {
    return bursting_stream(seed, 5, 2'400, stream_length);
}

std::vector<window_spikes> windows_of(const spike_sequence& spikes,
                                      const episode_window_options& options) {
    episode_windows windows(spikes.unit_names(), options);
    windows.add(spikes.times_us(), spikes.units());
    windows.advance(stream_length);
    std::vector<window_spikes> all;
    while (auto window = windows.take()) all.push_back(std::move(*window));
    return all;
}

void expect_mined_alone(const episode_table& table, const window_spikes& window,
                        const episode_mining_options& options) {
    ASSERT_EQ(table.complete_to_size, std::nullopt);
    ASSERT_EQ(table.episodes, mine_episodes(window.sequence(), options, window_alone).episodes)
        << "window " << window.bounds().number;
}

// The number of windows that were mined from the one before.
std::uint64_t mined_from_the_last(const std::vector<window_spikes>& windows,
                                  const episode_window_options& options,
                                  const execution& how = window_alone) {
    episode_window_miner miner(options);
    for (const window_spikes& window : windows)
        expect_mined_alone(miner.mine(window, how), window, options.mining);
    return miner.mined_incrementally();
}

TEST(EpisodeWindowMiner, MinesAllButTheFirstFromTheOneBefore) {
    const auto options = sliding_options();
    const auto windows = windows_of(sliding_stream(1), options);
    ASSERT_EQ(windows.size(), stream_windows);
    EXPECT_GT(mine_episodes(windows[3].sequence(), options.mining).episodes.back().what.size(), 3U);

    EXPECT_EQ(mined_from_the_last(windows, options), stream_windows - 1);
}

TEST(EpisodeWindowMiner, ChoosesByTheShareOfNewSpikesAndTheStrategy) {
    using std::chrono_literals::operator""us;
    auto options = sliding_options(window_method::automatic);
    EXPECT_EQ(mined_from_the_last(windows_of(sliding_stream(1), options), options),
              stream_windows - 1);

    options.mining.strategy = episode_strategy::state_machine;
    EXPECT_EQ(mined_from_the_last(windows_of(sliding_stream(1), options), options), 0U);

    options = sliding_options(window_method::automatic);
    options.hop = 1'001us;
    EXPECT_EQ(mined_from_the_last(windows_of(sliding_stream(1), options), options), 0U);

    options = sliding_options(window_method::remine);
    EXPECT_EQ(mined_from_the_last(windows_of(sliding_stream(1), options), options), 0U);
}

TEST(EpisodeWindowMiner, GoesOnAfterWindowsThatWereLeftOut) {
    const auto options = sliding_options();
    auto windows = windows_of(sliding_stream(2), options);
    windows.erase(windows.begin() + 5, windows.begin() + 12);

    EXPECT_EQ(mined_from_the_last(windows, options), windows.size() - 1);
}

TEST(EpisodeWindowMiner, BeginsAnewWhereWindowsDoNotFollowEachOther) {
    const auto options = sliding_options();
    auto windows = windows_of(sliding_stream(3), options);
    // There are no spikes in common beyond the tenth window, and then windows go back in time.
    windows.erase(windows.begin() + 10, windows.begin() + 35);
    windows.push_back(windows.front());

    EXPECT_EQ(mined_from_the_last(windows, options), windows.size() - 3);
}

TEST(EpisodeWindowMiner, TellsStreamsAndEpochsApart) {
    const auto options = sliding_options();
    const auto one = windows_of(sliding_stream(4), options);
    const auto other = windows_of(sliding_stream(5), options);
    episode_window_miner miner(options);

    expect_mined_alone(miner.mine(one[0]), one[0], options.mining);
    expect_mined_alone(miner.mine(other[1]), other[1], options.mining);
    expect_mined_alone(miner.mine(one[2]), one[2], options.mining);
    EXPECT_EQ(miner.mined_incrementally(), 0U);
}

TEST(EpisodeWindowMiner, BeginsAnewForANewUnit) {
    const auto options = sliding_options();
    const spike_sequence spikes = sliding_stream(6);
    episode_windows windows(spikes.unit_names(), options);
    episode_window_miner miner(options);
    std::uint64_t mined = 0;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        if (i == spikes.size() / 2) windows.add_unit("new");
        windows.add(spikes.times_us()[i], spikes.units()[i]);
        while (const auto window = windows.take()) {
            expect_mined_alone(miner.mine(*window), *window, options.mining);
            ++mined;
        }
    }
    EXPECT_EQ(miner.mined_incrementally(), mined - 2);
}

// Windows whose lists need more memory than they may are mined by themselves, and so are those that
// have spikes in common with them.
TEST(EpisodeWindowMiner, KeepsToItsMemory) {
    auto options = sliding_options();
    const auto windows = windows_of(sliding_stream(7), options);
    std::uint64_t most = 10'000;
    const auto fits = [&](const window_spikes& window) {
        try {
            static_cast<void>(mine_episodes(window.sequence(), options.mining, window_alone));
        } catch (const invalid_argument&) {
            return false;
        }
        return true;
    };
    do {
        most += most / 20;
        options.mining.max_memory_bytes = most;
    } while (!std::ranges::all_of(windows, fits));

    EXPECT_LT(mined_from_the_last(windows, options), stream_windows / 2);
    options.mining.max_memory_bytes = 100 * most;
    EXPECT_EQ(mined_from_the_last(windows, options), stream_windows - 1);
}

// A search that ends early has the levels that are complete, and later windows are whole.
TEST(EpisodeWindowMiner, MayEndEarly) {
    const auto options = sliding_options();
    const auto windows = windows_of(sliding_stream(8), options);
    std::stop_source enough;
    enough.request_stop();
    episode_window_miner miner(options);

    for (std::size_t i = 0; i < windows.size(); ++i) {
        if (i != 5) {
            expect_mined_alone(miner.mine(windows[i], window_alone), windows[i], options.mining);
            continue;
        }
        const episode_table early = miner.mine(windows[i], window_alone, enough.get_token());
        ASSERT_TRUE(early.complete_to_size);
        for (const counted_episode& one : early.episodes)
            EXPECT_LE(one.what.size(), *early.complete_to_size);
    }
    // Windows 6 to 24 have spikes in common with it, and there is nothing to begin window 25 from.
    EXPECT_EQ(miner.mined_incrementally(), 5U + stream_windows - 26);
}

TEST(EpisodeWindowMiner, KnowsNothingAfterItWasStopped) {
    const auto options = sliding_options();
    const auto windows = windows_of(sliding_stream(9), options);
    std::stop_source stopped;
    stopped.request_stop();
    episode_window_miner miner(options);
    expect_mined_alone(miner.mine(windows[0]), windows[0], options.mining);

    EXPECT_THROW(miner.mine(windows[1], {.stop = stopped.get_token()}), cancelled);
    expect_mined_alone(miner.mine(windows[2]), windows[2], options.mining);
    EXPECT_EQ(miner.mined_incrementally(), 0U);
}

// Thresholds that follow the rates, left-out windows and new epochs, in streams that burst.
TEST(EpisodeWindowMinerProperty, GivesTheTablesOfWindowsAlone) {
    random_streams draw(20261125);
    std::uint64_t incremental = 0;
    const std::size_t cases = property_cases(40);
    for (std::size_t i = 0; i < cases; ++i) {
        auto options = sliding_options();
        options.hop = duration{500 + static_cast<std::int64_t>(draw.below(4'000))};
        options.mining.ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        options.mining.self_repeats = draw.below(2) == 0;
        options.mining.max_size = draw.below(5);
        options.mining.min_count.reset();
        options.mining.min_fraction = 0.01 + 0.001 * static_cast<double>(draw.below(30));
        auto windows = windows_of(sliding_stream(draw.below(1'000'000)), options);
        std::erase_if(windows, [&](const window_spikes&) { return draw.below(8) == 0; });
        incremental += mined_from_the_last(windows, options);
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "case " << i;
    }
    EXPECT_GT(incremental, 5 * cases);
}

}  // namespace
}  // namespace spikeweave
