#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/random_streams.hpp"
#include "support/shared_data.hpp"
#include "support/strategy_cases.hpp"

// Tests what only devices can get wrong: the borders of warps, blocks, tiles and eras, lists that
// fill up, results that change from run to run; and real recordings.
namespace spikeweave {
namespace {

using namespace std::chrono_literals;

class OnDevices : public ::testing::TestWithParam<strategy_case> {
protected:
    // The published superset of occurrences grows combinatorially in bursts.
    bool tries_all() const { return GetParam().strategy == episode_strategy::occurrences; }

    std::vector<std::uint64_t> counts(const spike_sequence& spikes,
                                      const std::vector<episode>& what, tie_rule ties) const {
        const auto counted = count_episodes(
            spikes, what, {.ties = ties, .strategy = GetParam().strategy}, GetParam().run());
        EXPECT_EQ(counted.ran_on, GetParam().strategy);
        EXPECT_EQ(counted.ran_on_devices, GetParam().devices);
        return counted.counts;
    }
    // Compares both tie rules with the CPU; returns the sum of the counts.
    std::uint64_t expect_the_cpus(const spike_sequence& spikes, const std::vector<episode>& what,
                                  const std::string& about) const {
        std::uint64_t sum = 0;
        for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
            const auto expected =
                count_episodes(spikes, what,
                               {.ties = ties, .strategy = episode_strategy::state_machine})
                    .counts;
            EXPECT_EQ(counts(spikes, what, ties), expected) << about << ", " << to_string(ties);
            for (const std::uint64_t count : expected) sum += count;
        }
        return sum;
    }
};

episode chain(random_streams& draw, std::size_t size, std::uint32_t units) {
    episode what;
    for (std::size_t k = 0; k < size; ++k) {
        what.units.push_back(unit_id{static_cast<std::uint32_t>(draw.below(units))});
        const auto low = static_cast<std::int64_t>(draw.below(4) * 10);
        if (k > 0)
            what.delays.push_back(
                {duration{low}, duration{low + 10 * static_cast<std::int64_t>(1 + draw.below(5))}});
    }
    return what;
}

std::vector<episode> chains(std::uint64_t seed, std::size_t number, std::size_t size,
                            std::uint32_t units) {
    random_streams draw(seed);
    std::vector<episode> several;
    for (std::size_t i = 0; i < number; ++i) several.push_back(chain(draw, size, units));
    return several;
}

TEST_P(OnDevices, SizesFromOneToTwelve) {
    const spike_sequence spikes = bursting_stream(1, 4, 4'000, 60'000);
    for (std::size_t size = 1; size <= 12; ++size) {
        const auto sum =
            expect_the_cpus(spikes, chains(size, 40, size, 4), "size " + std::to_string(size));
        EXPECT_GT(sum, 0U) << size;
    }
}

TEST_P(OnDevices, NumbersOfEpisodesAroundWarpsAndBlocks) {
    const spike_sequence spikes = bursting_stream(2, 5, 1'500, 30'000);
    for (const std::size_t number : {1U, 2U, 31U, 32U, 33U, 63U, 64U, 65U, 255U, 256U, 257U, 1025U})
        expect_the_cpus(spikes, chains(number, number, 3, 5), std::to_string(number) + " episodes");
}

TEST_P(OnDevices, NumbersOfSpikesAroundWarpsTilesAndSegments) {
    for (const std::size_t number : {1U, 2U, 31U, 32U, 33U, 127U, 128U, 129U, 255U, 256U, 257U,
                                     511U, 512U, 513U, 1023U, 1024U, 1025U, 4097U}) {
        // Each number of spikes is exact: one spike every ten microseconds.
        random_streams draw(number);
        spike_sequence_builder builder;
        for (std::uint32_t u = 0; u < 3; ++u) builder.unit(std::to_string(u));
        for (std::size_t i = 0; i < number; ++i)
            builder.append(static_cast<std::int64_t>(i / 2 * 10),
                           unit_id{static_cast<std::uint32_t>(i % 2 == 0 ? draw.below(2) : 2)});
        const spike_sequence spikes = builder.finish();
        ASSERT_EQ(spikes.size(), number);
        expect_the_cpus(spikes, chains(number, 20, 3, 3), std::to_string(number) + " spikes");
    }
}

TEST_P(OnDevices, BurstsOfTenThousandSpikesWithinOneInterval) {
    const int burst = tries_all() ? 100 : 10'000;
    spike_sequence_builder builder;
    const unit_id a = builder.unit("a");
    const unit_id b = builder.unit("b");
    const unit_id c = builder.unit("c");
    for (const std::int64_t begin : {0, 1'000'000, 2'000'000}) {
        for (int i = 0; i < burst; ++i) {
            builder.append(begin + i, a);
            if (i % 3 == 0) builder.append(begin + i + burst / 2, b);
        }
        builder.append(begin + 5 * burst, c);
        builder.append(begin + 6 * burst, b);
        builder.append(begin + 7 * burst, c);
    }
    const spike_sequence spikes = builder.finish();
    std::vector<episode> what;
    for (const std::int64_t high : {1, burst / 10, burst, 8 * burst, 900'000}) {
        const delay_interval wide{duration{0}, duration{high}};
        const delay_interval late{duration{high / 2}, duration{high + 1}};
        what.push_back({{a, c}, {wide}});
        what.push_back({{a, b}, {late}});
        if (tries_all()) continue;
        what.push_back({{a, b, c}, {wide, wide}});
        what.push_back({{a, b, c}, {late, wide}});
        what.push_back({{a, a, b, c}, {wide, late, wide}});
    }

    expect_the_cpus(spikes, what, "bursts");
    for (const episode& one : what) expect_the_cpus(spikes, {one}, "one episode on bursts");
}

TEST_P(OnDevices, ADayWithSpikesOnTheBordersOf32Bits) {
    constexpr std::int64_t era = std::int64_t{1} << 32;
    random_streams draw(11);
    spike_sequence_builder builder;
    for (std::uint32_t u = 0; u < 3; ++u) builder.unit(std::to_string(u));
    // A device counts time from the first spike.
    builder.append(-1'000, unit_id{0});
    for (std::int64_t border = 0; border < 20; ++border) {
        for (int i = 0; i < 100; ++i)
            builder.append(
                border * era - 1'000 + static_cast<std::int64_t>(draw.below(40)) * 10 - 200,
                unit_id{static_cast<std::uint32_t>(draw.below(3))});
    }
    const spike_sequence spikes = builder.finish();

    EXPECT_GT(expect_the_cpus(spikes, chains(12, 60, 3, 3), "a day"), 100U);
    // Delays are longer than 32 bits hold; latest-start refuses them.
    const std::vector<episode> slow{
        {{unit_id{0}, unit_id{1}}, {{duration{0}, duration{2 * era}}}},
        {{unit_id{0}, unit_id{1}}, {{duration{era - 300}, duration{era + 300}}}},
        {{unit_id{2}, unit_id{1}, unit_id{0}},
         {{duration{era - 10}, duration{era}}, {duration{2 * era - 10}, duration{2 * era + 10}}}}};
    if (GetParam().strategy == episode_strategy::latest_start) {
        EXPECT_THROW(
            count_episodes(spikes, slow, {.strategy = GetParam().strategy}, GetParam().run()),
            invalid_argument);
    } else if (!tries_all()) {
        EXPECT_GT(expect_the_cpus(spikes, slow, "delays of more than an hour"), 10U);
    }
}

TEST_P(OnDevices, IntervalsWiderThanTheRecording) {
    const spike_sequence spikes = bursting_stream(13, 3, tries_all() ? 40 : 2'000, 20'000);
    std::vector<episode> what = chains(14, 10, 2, 3);
    for (episode& one : what) one.delays = {{duration{0}, duration{INT64_MAX / 4}}};
    expect_the_cpus(spikes, what, "wide");
    for (episode& one : what)
        one.delays = {{duration{std::int64_t{1} << 40}, duration{std::int64_t{1} << 41}}};
    expect_the_cpus(spikes, what, "beyond the end");
}

TEST_P(OnDevices, NoSpikesAndOneSpike) {
    const std::vector<episode> what{{{unit_id{0}, unit_id{1}}, {{duration{0}, duration{5}}}},
                                    {{unit_id{1}}, {}}};
    const spike_sequence none({}, {}, {"a", "b"}, {});
    EXPECT_EQ(counts(none, what, tie_rule::time), (std::vector<std::uint64_t>{0, 0}));
    const spike_sequence one({3}, {unit_id{1}}, {"a", "b"}, {duration{0}, duration{9}});
    EXPECT_EQ(counts(one, what, tie_rule::order), (std::vector<std::uint64_t>{0, 1}));
    EXPECT_TRUE(counts(one, {}, tie_rule::time).empty());
}

TEST_P(OnDevices, EightRunsRepeatToTheBit) {
    const auto simulated = simulate_sym26({.length = 20s, .seed = 5});
    const episode_mining_options options{
        .delays = {{1ms, 4ms}, {4ms, 6ms}}, .min_count = 100, .strategy = GetParam().strategy};
    const episode_table first = mine_episodes(simulated.spikes, options, GetParam().run());
    ASSERT_GT(first.episodes.size(), 20U);
    for (int run = 1; run < 8; ++run) {
        const episode_table again = mine_episodes(simulated.spikes, options, GetParam().run());
        ASSERT_EQ(again.episodes, first.episodes) << run;
        ASSERT_EQ(again.merge_misses, first.merge_misses) << run;
    }
}

TEST_P(OnDevices, KernelTimeIsPartOfTheTime) {
    const auto simulated = simulate_sym26({.length = 20s, .seed = 5});
    const auto table = mine_episodes(
        simulated.spikes,
        {.delays = {{4ms, 6ms}}, .min_count = 50, .max_size = 2, .strategy = GetParam().strategy},
        GetParam().run());

    EXPECT_GT(table.levels[1].kernel_seconds, 0);
    // Lanes of one GPU may overlap.
    EXPECT_LE(table.levels[1].kernel_seconds,
              table.levels[1].seconds * static_cast<double>(GetParam().devices.size()));
}

TEST_P(OnDevices, StopWithinASecondOrSo) {
    const auto simulated =
        simulate_poisson({.units = 64, .length = 400s, .rate_hz = 50, .seed = 1});
    const auto many = chains(15, 20'000, 4, 64);
    std::stop_source stop;
    execution run = GetParam().run();
    run.stop = stop.get_token();
    std::chrono::steady_clock::time_point asked;
    const std::jthread asker([&] {
        std::this_thread::sleep_for(100ms);
        asked = std::chrono::steady_clock::now();
        stop.request_stop();
    });
    try {
        for (;;)
            static_cast<void>(
                count_episodes(simulated.spikes, many, {.strategy = GetParam().strategy}, run));
    } catch (const cancelled&) {
        EXPECT_LT(std::chrono::steady_clock::now() - asked, 2s);
    }
}

struct recording {
    const char* file;
    std::vector<delay_interval> delays;
    std::uint64_t threshold;
    std::size_t max_size;
};

class OnRecordings : public OnDevices {
protected:
    void expect_the_cpus_table(const recording& what) const {
        const spike_file file = read_spikes(shared_data(what.file));
        episode_mining_options options{
            .delays = what.delays, .min_count = what.threshold, .max_size = what.max_size};
        for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
            options.ties = ties;
            options.strategy = episode_strategy::latest_start;
            const auto expected = mine_episodes(file.spikes, options);
            options.strategy = GetParam().strategy;
            const auto table = mine_episodes(file.spikes, options, GetParam().run());
            EXPECT_EQ(table.episodes, expected.episodes) << what.file;
            EXPECT_GT(expected.levels.back().frequent + expected.levels[1].frequent, 20U)
                << what.file;
        }
    }
};

TEST_P(OnRecordings, Cultures) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("wagenaar2006");
    const std::vector<delay_interval> narrow{{0ms, 2ms}, {2ms, 4ms}};
    for (const recording& one :
         {recording{"wagenaar2006/2-1-20.spk.txt", narrow, 400, 4},
          recording{"wagenaar2006/6-1-10.spk.txt", {{0ms, 20ms}, {20ms, 40ms}}, 15, 4},
          recording{"wagenaar2006/6-2-28.spk.txt", narrow, 1'500, 4}})
        expect_the_cpus_table(one);
}

TEST_P(OnRecordings, TheRetina) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("retina_p10_794units.tsv.gz");
    expect_the_cpus_table({"retina_p10_794units.tsv.gz", {{0ms, 20ms}}, 300, 3});
}

// The recording has 4,307 s, so times do not fit into 32 bits.
TEST_P(OnRecordings, AHippocampusOfMoreThanAnHour) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("hippocampus_w-maze.tsv.gz");
    expect_the_cpus_table({"hippocampus_w-maze.tsv.gz", {{1ms, 10ms}}, 1'000, 4});
}

INSTANTIATE_TEST_SUITE_P(Every, OnDevices, ::testing::ValuesIn(strategy_cases()),
                         [](const auto& param) { return label(param.param); });
INSTANTIATE_TEST_SUITE_P(Every, OnRecordings, ::testing::ValuesIn(strategy_cases()),
                         [](const auto& param) { return label(param.param); });

}  // namespace
}  // namespace spikeweave
