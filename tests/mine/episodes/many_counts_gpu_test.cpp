#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/many_counts.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

// Devices count the same in many sequences as the CPU in each.
namespace spikeweave {
namespace {

using namespace std::chrono_literals;

using counts_by_sequence = std::map<std::uint32_t, std::vector<std::uint64_t>>;

many_sequences all_of(const std::vector<spike_sequence>& sequences) {
    return {[&](std::uint32_t which) { return sequences[which]; }, 0,
            static_cast<std::uint32_t>(sequences.size())};
}

counts_by_sequence on_devices(const std::vector<spike_sequence>& sequences,
                              const std::vector<episode>& what, tie_rule ties,
                              const std::vector<int>& where) {
    counts_by_sequence out;
    count_in_many(all_of(sequences), what, ties,
                  [&](std::uint32_t which, std::span<const std::uint64_t> counts) {
                      EXPECT_TRUE(out.try_emplace(which, counts.begin(), counts.end()).second);
                  },
                  {.devices = where});
    return out;
}

counts_by_sequence on_cpu(const std::vector<spike_sequence>& sequences,
                          const std::vector<episode>& what, tie_rule ties) {
    counts_by_sequence out;
    for (std::uint32_t i = 0; i < sequences.size(); ++i)
        out[i] = count_episodes(sequences[i], what, {.ties = ties}).counts;
    return out;
}

void expect_the_cpus(const std::vector<spike_sequence>& sequences, const std::vector<episode>& what,
                     const std::vector<int>& where) {
    for (const tie_rule ties : {tie_rule::time, tie_rule::order})
        ASSERT_EQ(on_devices(sequences, what, ties, where), on_cpu(sequences, what, ties))
            << to_string(ties);
}

// A recording of these units, whether they fire or not.
spike_sequence with_units(const spike_sequence& spikes, std::uint32_t units) {
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < units; ++u) names.push_back("unit " + std::to_string(u));
    return {{spikes.times_us().begin(), spikes.times_us().end()},
            {spikes.units().begin(), spikes.units().end()},
            names,
            spikes.span()};
}

std::vector<episode> drawn_episodes(random_streams& draw, std::uint32_t units) {
    std::vector<episode> out;
    for (std::uint64_t n = 1 + draw.below(30); n > 0; --n)
        out.push_back(draw.episode(1 + draw.below(5), units));
    return out;
}

TEST(EpisodesInManyOnDevices, OfRandomSequences) {
    random_streams draw(21);
    for (std::size_t i = 0; i < property_cases(600); ++i) {
        const auto units = static_cast<std::uint32_t>(1 + draw.below(5));
        std::vector<spike_sequence> sequences;
        for (std::uint64_t n = 1 + draw.below(90); n > 0; --n)
            sequences.push_back(with_units(draw.spikes(40, units), units));
        expect_the_cpus(sequences, drawn_episodes(draw, units), {0});
    }
}

TEST(EpisodesInManyOnDevices, OnSeveral) {
    random_streams draw(22);
    std::vector<int> all;
    for (const device_info& one : devices()) all.push_back(one.ordinal);
    all.push_back(0);
    std::vector<spike_sequence> sequences;
    for (std::uint64_t i = 0; i < 100; ++i)
        sequences.push_back(bursting_stream(i, 8, 20'000 + 100 * i, 400'000));
    std::vector<episode> what;
    for (int i = 0; i < 200; ++i) {
        episode one = draw.episode(2 + draw.below(3), 8);
        for (delay_interval& d : one.delays) d = {0us, 50us};
        what.push_back(std::move(one));
    }
    expect_the_cpus(sequences, what, all);
}

TEST(EpisodesInManyOnDevices, OfEpochs) {
    random_streams draw(23);
    std::vector<spike_sequence> sequences;
    for (std::uint64_t i = 0; i < 20; ++i) {
        const spike_sequence whole = bursting_stream(i, 4, 3000, 40'000);
        sequences.push_back(within_epochs(
            whole,
            std::vector<time_span>{{0us, 50'000us}, {50'010us, 90'000us}, {95'000us, 400'000us}}));
    }
    expect_the_cpus(sequences, drawn_episodes(draw, 4), {0});
}

TEST(EpisodesInManyOnDevices, RefusesWhatItCannotCount) {
    const std::vector<episode> pair{{{unit_id{0}, unit_id{1}}, {{0us, 5us}}}};
    const auto ignore = [](std::uint32_t, std::span<const std::uint64_t>) {};
    const spike_sequence brief({0, 3}, {unit_id{0}, unit_id{1}}, {"a", "b"}, {0us, 3us});
    const std::vector<spike_sequence> brief_one{brief};
    const spike_sequence lone({0}, {unit_id{0}}, {"a"}, {0us, 3us});
    const spike_sequence lasting({0, 3}, {unit_id{0}, unit_id{1}}, {"a", "b"}, {0us, 72min});
    EXPECT_THROW(count_in_many(all_of(brief_one), pair, tie_rule::time, ignore, {}),
                 invalid_argument);
    EXPECT_FALSE(can_count_in_many(lasting, pair));
    const std::vector<spike_sequence> too_long{lasting};
    EXPECT_THROW(count_in_many(all_of(too_long), pair, tie_rule::time, ignore, {.devices = {0}}),
                 invalid_argument);
    const std::vector<spike_sequence> different{brief, lone};
    EXPECT_THROW(count_in_many(all_of(different), pair, tie_rule::time, ignore, {.devices = {0}}),
                 invalid_argument);
}

TEST(EpisodesInManyOnDevices, StopsWithinASecond) {
    const spike_sequence spikes = bursting_stream(1, 20, 400'000, 4'000'000);
    random_streams draw(24);
    std::vector<episode> what;
    for (int i = 0; i < 5000; ++i) {
        episode one = draw.episode(4, 20);
        for (delay_interval& d : one.delays) d = {0us, 100us};
        what.push_back(std::move(one));
    }
    std::stop_source source;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(2s);
        source.request_stop();
    });
    const auto began = std::chrono::steady_clock::now();
    EXPECT_THROW(count_in_many({[&](std::uint32_t) { return spikes; }, 0, 100'000}, what,
                               tie_rule::time, [](std::uint32_t, std::span<const std::uint64_t>) {},
                               {.stop = source.get_token(), .devices = {0}}),
                 cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
}

}  // namespace
}  // namespace spikeweave
