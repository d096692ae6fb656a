#include "spikeweave/pipeline/episodes/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"
#include "support/independent_spikes.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Six units of 20 Hz; "1" follows "0" 5 ms later, 10 times a second, from 10 s on.
spike_sequence recording_of_windows(std::uint64_t seed, double seconds) {
    std::mt19937_64 random(seed);
    independent_spikes stream(seed, 6, 20);
    spike_sequence_builder builder;
    for (std::uint32_t unit = 0; unit < 6; ++unit) builder.unit(std::to_string(unit));
    const auto end_us = static_cast<std::int64_t>(1e6 * seconds);
    for (auto spike = stream.next(); spike.first < end_us; spike = stream.next())
        builder.append(spike.first, spike.second);
    std::exponential_distribution<double> gap(10);
    for (double now = 10 + gap(random); now < seconds; now += gap(random)) {
        const auto us = static_cast<std::int64_t>(1e6 * now);
        builder.append(us, unit_id{0});
        builder.append(us + 5000, unit_id{1});
    }
    return builder.finish({0s, duration{end_us}});
}

spike_sequence between(const spike_sequence& spikes, duration begin, duration end) {
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        if (const duration at{spikes.times_us()[i]}; at >= begin && at < end) {
            times.push_back(at.count());
            units.push_back(spikes.units()[i]);
        }
    return {std::move(times), std::move(units), spikes.unit_names(), {begin, end}};
}

void expect_equal_tests(std::span<const episode_test> found, std::span<const episode_test> others) {
    ASSERT_EQ(found.size(), others.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].expected, others[i].expected);
        EXPECT_EQ(found[i].p, others[i].p);
        EXPECT_EQ(found[i].q, others[i].q);
        EXPECT_EQ(found[i].strength, others[i].strength);
    }
}

// The results of the whole analysis in the spikes of each window; windows are cut here from the
// definition. A hop of a fiftieth of the window is mined from the window before.
void expect_windows_as_recordings(const windowed_episode_options& options, double seconds) {
    const spike_sequence spikes = recording_of_windows(5, seconds);

    const auto found = find_episodes_in_windows(spikes, options);

    const duration hop = options.hop > duration{0} ? options.hop : options.window;
    std::size_t number = 0;
    for (duration begin{0}; begin + options.window <= spikes.span().end; begin += hop, ++number) {
        ASSERT_LT(number, found.windows.size());
        const tested_window& window = found.windows[number];
        const spike_sequence inside = between(spikes, begin, begin + options.window);
        const episode_result alone = find_episodes(inside, options.search);
        EXPECT_EQ(window.bounds, (window_bounds{static_cast<std::int64_t>(number), begin,
                                                begin + options.window}));
        EXPECT_EQ(window.spikes, inside.size());
        EXPECT_EQ(window.table.threshold, alone.table.threshold);
        EXPECT_EQ(window.table.episodes, alone.table.episodes);
        expect_equal_tests(window.tests, deciding_tests(alone));
        EXPECT_EQ(window.circuit.chains, alone.circuit.chains);
        ASSERT_EQ(window.circuit.edges.size(), alone.circuit.edges.size());
        for (std::size_t i = 0; i < alone.circuit.edges.size(); ++i) {
            EXPECT_EQ(window.circuit.edges[i].best, alone.circuit.edges[i].best);
            EXPECT_EQ(window.circuit.edges[i].q, alone.circuit.edges[i].q);
        }
    }
    EXPECT_EQ(number, found.windows.size());
}

episode_options search_of_windows() {
    episode_options search;
    search.mining.delays = {{4ms, 6ms}, {8ms, 12ms}};
    search.mining.min_count = 8;
    search.run.threads = 1;
    return search;
}

TEST(EpisodesInWindows, AreThoseOfRecordingsOfTheirSpikes) {
    expect_windows_as_recordings({search_of_windows(), 8s, 4s}, 30);
    expect_windows_as_recordings({search_of_windows(), 7s}, 30);
}

TEST(EpisodesInWindows, AreTheSameWhenMinedFromTheWindowBefore) {
    windowed_episode_options options{search_of_windows(), 5s, 100ms};
    options.search.mining.max_size = 3;
    expect_windows_as_recordings(options, 13);
}

TEST(EpisodesInWindows, HaveTheThresholdAndTheSurrogatesOfEachWindow) {
    windowed_episode_options options{search_of_windows(), 6s, 3s};
    options.search.mining.min_count.reset();
    options.search.mining.min_fraction = 0.01;
    options.search.mining.max_size = 2;
    options.search.surrogates.surrogates = 20;
    expect_windows_as_recordings(options, 20);
}

TEST(EpisodesInWindows, ShowWhenAConnectionBegins) {
    const auto found =
        find_episodes_in_windows(recording_of_windows(9, 30), {search_of_windows(), 5s});
    ASSERT_EQ(found.windows.size(), 6U);
    for (std::size_t k = 0; k < 6; ++k) {
        const auto& edges = found.windows[k].circuit.edges;
        const bool has_edge = std::ranges::any_of(edges, [](const circuit_edge& edge) {
            return edge.from == unit_id{0} && edge.to == unit_id{1};
        });
        EXPECT_EQ(has_edge, k >= 2) << k;
    }
}

TEST(EpisodesInWindows, RefuseWindowsThatCannotBe) {
    const spike_sequence spikes = recording_of_windows(1, 10);

    EXPECT_THROW(find_episodes_in_windows(spikes, {search_of_windows()}), invalid_argument);
    EXPECT_THROW(find_episodes_in_windows(spikes, {search_of_windows(), 11s}), invalid_argument);
    EXPECT_THROW(find_episodes_in_windows(spikes, {search_of_windows(), -1s}), invalid_argument);
    EXPECT_EQ(find_episodes_in_windows(spikes, {search_of_windows(), 10s}).windows.size(), 1U);
    episode_options shuffled = search_of_windows();
    shuffled.surrogates = {.surrogates = 10, .method = surrogate_method::bin_shuffling};
    EXPECT_THROW(
        find_episodes_in_windows(spikes, {.search = shuffled, .window = 1s, .change_points = true}),
        invalid_argument);
}

TEST(EpisodesInWindows, RefuseOptionsOfWholeRecordings) {
    const spike_sequence spikes = recording_of_windows(1, 10);
    const auto field_refused = [&](const std::function<void(episode_options&)>& set) {
        windowed_episode_options options{search_of_windows(), 5s};
        set(options.search);
        try {
            find_episodes_in_windows(spikes, options);
        } catch (const invalid_argument& error) {
            return error.field();
        }
        return std::string();
    };
    EXPECT_EQ(field_refused([](auto& how) { how.time.epochs = {{0s, 9s}}; }), "epochs");
    EXPECT_EQ(field_refused([](auto& how) { how.time.trial_length = 1s; }), "trial_length");
    EXPECT_EQ(field_refused([](auto& how) { how.hold_out = 0.5; }), "hold_out");
    EXPECT_EQ(field_refused([](auto&) {}), "");
    windowed_episode_options options;
    const option_list list = describe(options);
    for (const char* const name : {"epochs", "trial_length", "trial_separation", "hold_out"})
        EXPECT_FALSE(list.has(name)) << name;
}

spike_sequence random_spikes_of_levels(std::mt19937_64& random) {
    const auto units = static_cast<std::uint32_t>(2 + random() % 5);
    independent_spikes stream(random(), units, 20);
    spike_sequence_builder builder;
    for (std::uint32_t unit = 0; unit < units; ++unit) builder.unit(std::to_string(unit));
    for (int i = 0; i < 2000; ++i) {
        const auto [time_us, unit] = stream.next();
        builder.append(time_us, unit);
    }
    return builder.finish();
}

TEST(RestoredLevels, AreThoseOfTheSearch) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 20; ++round) {
        const spike_sequence spikes = random_spikes_of_levels(random);
        episode_mining_options options{.delays = {{1ms, 5ms}, {5ms, 12ms}},
                                       .min_count = 2 + random() % 10,
                                       .max_size = random() % 4,
                                       .self_repeats = random() % 2 == 0};
        const episode_table mined = mine_episodes(spikes, options);
        episode_table restored = mined;
        restore_levels(restored, spikes.unit_count(), options);
        for (const episode_level& level : restored.levels) {
            const auto same = std::ranges::find(mined.levels, level.size, &episode_level::size);
            ASSERT_NE(same, mined.levels.end());
            EXPECT_EQ(level.candidates, same->candidates) << "size " << level.size;
            EXPECT_EQ(level.frequent, same->frequent);
        }
        ASSERT_FALSE(mined.episodes.empty());
        EXPECT_EQ(restored.levels.back().size, mined.episodes.back().what.size());
    }
}

TEST(EpisodesInWindows, LieInTheChosenPart) {
    const spike_sequence spikes = recording_of_windows(5, 40);
    windowed_episode_options options{.window = 5s};
    const auto all = find_episodes_in_windows(spikes, options);
    options.search.time = {.t_start = 12s, .t_stop = 31s};

    const auto found = find_episodes_in_windows(spikes, options);

    ASSERT_EQ(found.windows.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found.windows[i].bounds, all.windows[i + 3].bounds);
        EXPECT_EQ(found.windows[i].table.episodes, all.windows[i + 3].table.episodes);
        expect_equal_tests(found.windows[i].tests, all.windows[i + 3].tests);
    }
    options.search.time.t_stop = 19s;
    EXPECT_THROW(find_episodes_in_windows(spikes, options), invalid_argument);
    options.search.time = {.trial_length = 1s};
    EXPECT_THROW(find_episodes_in_windows(spikes, options), invalid_argument);
}

// Each window against the last one that ends before it begins.
TEST(EpisodesInWindows, AreComparedWithTheLastThatSharesNoTime) {
    const auto found =
        find_episodes_in_windows(recording_of_windows(9, 30), {search_of_windows(), 8s, 4s});
    ASSERT_EQ(found.windows.size(), 6U);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_FALSE(found.windows[k].stability);
    for (std::size_t k = 2; k < 6; ++k) {
        ASSERT_TRUE(found.windows[k].stability);
        const auto& [since, both] = *found.windows[k].stability;
        EXPECT_EQ(since, k - 2);
        EXPECT_EQ(both.after, direct_pairs(found.windows[k].circuit).size());
    }
    EXPECT_EQ(found.windows[5].stability->both.common, 1U);
}

TEST(EpisodesInWindows, SayWhenTheCircuitChangesIfAsked) {
    const spike_sequence spikes = recording_of_windows(9, 30);
    windowed_episode_options options{search_of_windows(), 2s, 1s};
    options.search.mining.max_size = 2;
    EXPECT_FALSE(find_episodes_in_windows(spikes, options).changes);
    options.change_points = true;
    options.search.mining.min_count.reset();

    const auto found = find_episodes_in_windows(spikes, options);

    ASSERT_TRUE(found.changes);
    EXPECT_EQ(found.changes->windows.size(), 15U);
    ASSERT_FALSE(found.changes->circuit.found.empty());
    EXPECT_EQ(found.changes->windows[found.changes->circuit.found[0].at].begin, 10s);
}

// From 10 s on, all units fire twice within 2 ms, ten times a second.
spike_sequence recording_of_bursts() {
    std::mt19937_64 random(2);
    std::uniform_int_distribution<std::int64_t> within(0, 1999);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    independent_spikes stream(2, 6, 10);
    for (auto spike = stream.next(); spike.first < 20'000'000; spike = stream.next())
        all.push_back(spike);
    for (std::int64_t burst = 10'000'000; burst < 20'000'000; burst += 100'000)
        for (std::uint32_t unit = 0; unit < 6; ++unit)
            for (int i = 0; i < 2; ++i)
                all.emplace_back(burst + within(random) / 2 + 1000 * i, unit_id{unit});
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return sequence_of(std::move(all), {"0", "1", "2", "3", "4", "5"}, {0s, 20s});
}

TEST(EpisodesInWindows, WarnOfBurstsWithinCells) {
    const spike_sequence spikes = recording_of_bursts();
    windowed_episode_options options{search_of_windows(), 5s};
    options.search.mining.delays = {{0ms, 2ms}};
    options.search.mining.max_size = 2;

    const auto found = find_episodes_in_windows(spikes, options);

    ASSERT_EQ(found.warnings.size(), 1U);
    for (const char* const part : {"Warnings in 2 of 4 windows. The first, from 10 s to 15 s: ",
                                   "Bursts: all units speed up together within 10 ms"})
        EXPECT_NE(found.warnings[0].find(part), std::string::npos) << found.warnings[0];
}

}  // namespace
}  // namespace spikeweave
