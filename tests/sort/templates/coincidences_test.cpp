#include "sort/templates/coincidences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace spikeweave::templates {
namespace {

TEST(CountPairs, CountsBothOrdersAndBothEnds) {
    const std::vector<std::int64_t> a{100, 200};
    const std::vector<std::int64_t> b{90, 95, 100, 105, 110, 207};
    EXPECT_EQ(count_pairs(a, b, 0, 0), 1U);
    EXPECT_EQ(count_pairs(a, b, 0, 10), 6U);
    EXPECT_EQ(count_pairs(a, b, 5, 10), 5U);
    EXPECT_EQ(count_pairs(a, b, 6, 9), 1U);
    EXPECT_EQ(count_pairs(a, {}, 0, 10), 0U);
}

TEST(ExpectedPairs, IsTheMeanOfIndependentUnits) {
    std::mt19937_64 random(3);
    constexpr std::int64_t length = 3000;
    constexpr std::int64_t least = 4;
    constexpr std::int64_t most = 9;
    double found = 0;
    constexpr int trials = 2000;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<std::int64_t> a;
        std::vector<std::int64_t> b;
        for (std::int64_t f = 0; f < length; ++f) {
            if (random() % 50 == 0) a.push_back(f);
            if (random() % 30 == 0) b.push_back(f);
        }
        found += static_cast<double>(count_pairs(a, b, least, most)) / trials;
    }
    const double expected = expected_pairs(60, 100, least, most, length);
    EXPECT_DOUBLE_EQ(expected, 60.0 * 100 * 12 / 3000);
    // The standard error is about 0.12, and the ends of the recording take 0.2 %.
    EXPECT_NEAR(found, expected, 0.7);
}

TEST(FireIndependently, TellsANeuronFromTwo) {
    EXPECT_FALSE(fire_independently(0, 10));
    EXPECT_FALSE(fire_independently(6, 10));
    EXPECT_TRUE(fire_independently(7, 10));
    EXPECT_FALSE(fire_independently(1, 0.1));
}

constexpr double train_rate = 10'000;
constexpr double train_frames = 600 * train_rate;

// Spikes of a neuron that fires at about 10 Hz, none within 3 ms of the one before.
std::vector<std::int64_t> neuron(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> interval(10.0 / train_rate);
    std::vector<std::int64_t> out;
    for (double at = 0; at < train_frames; at += 31 + interval(random))
        out.push_back(static_cast<std::int64_t>(at));
    return out;
}

TEST(RefractoryLags, EndWhereOneNeuronFiresAgain) {
    const std::vector<std::int64_t> all = neuron(1);
    EXPECT_EQ(refractory_lags({all, all, train_rate, train_frames}), (lag_range{6, 30}));
    // Too few spikes for any pair.
    const std::vector<std::int64_t> few(all.begin(), all.begin() + 5);
    EXPECT_EQ(refractory_lags({few, few, train_rate, train_frames}), (lag_range{6, 25}));
}

TEST(IsOneTrain, TellsHalvesOfANeuronFromTwoNeurons) {
    std::array<std::vector<std::int64_t>, 2> halves;
    std::mt19937_64 random(5);
    for (const std::int64_t at : neuron(1)) halves[random() % 2].push_back(at);
    const train_pair one{halves[0], halves[1], train_rate, train_frames};
    EXPECT_TRUE(is_one_train(one, refractory_lags(one)));
    const std::vector<std::int64_t> other = neuron(2);
    const train_pair two{halves[0], other, train_rate, train_frames};
    EXPECT_FALSE(is_one_train(two, refractory_lags(two)));
}

// Bursts of three spikes, 4 ms apart, once a second: the first two of one unit, the last of
// another.
TEST(IsOneBurst, TellsTheBurstsOfOneNeuronFromAConnection) {
    constexpr std::int64_t apart = 40;
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> last;
    std::mt19937_64 random(9);
    for (std::int64_t at = 0; at < 60 * 10'000; at += 10'000) {
        const std::int64_t begin = at + static_cast<std::int64_t>(random() % 5'000);
        first.insert(first.end(), {begin, begin + apart});
        last.push_back(begin + 2 * apart);
    }
    const train_pair one{first, last, train_rate, 60 * train_rate};
    EXPECT_TRUE(is_one_burst(one, {6, 25}));
    EXPECT_FALSE(is_one_train(one, {6, 25})) << "too few spikes to tell";
    // The target of a connection also fires by itself.
    std::vector<std::int64_t> target = last;
    for (int n = 0; n < 600; ++n)
        target.push_back(static_cast<std::int64_t>(random() % (60 * 10'000)));
    std::ranges::sort(target);
    EXPECT_FALSE(is_one_burst({first, target, train_rate, 60 * train_rate}, {6, 25}));
}

TEST(FireInBursts, TellsTheSpikesOfABurstFromConnectionsAndRemainders) {
    const std::vector<std::int64_t> all = neuron(1);
    std::mt19937_64 random(7);
    std::vector<std::int64_t> later;
    std::vector<std::int64_t> echoes;
    std::vector<std::int64_t> passed = neuron(2);
    for (std::size_t n = 0; n < all.size(); n += 4) {
        later.push_back(all[n] + 10 + static_cast<std::int64_t>(random() % 30));
        echoes.push_back(all[n] + 19);
        if (n % 100 == 0) passed.push_back(all[n] + 20);
    }
    std::ranges::sort(passed);
    EXPECT_TRUE(fire_in_bursts({all, later, train_rate, train_frames}));
    EXPECT_FALSE(fire_in_bursts({all, echoes, train_rate, train_frames}));
    EXPECT_FALSE(fire_in_bursts({all, passed, train_rate, train_frames}));
    EXPECT_FALSE(fire_in_bursts({all, neuron(2), train_rate, train_frames}));
}

TEST(TakeTurns, TellsPartsOfADriftingNeuronFromNeuronsWithStates) {
    // The first part has the first and the third quarter of the recording, with few exceptions.
    const auto parts_of = [](const std::vector<std::int64_t>& all) {
        std::array<std::vector<std::int64_t>, 2> parts;
        for (std::size_t n = 0; n < all.size(); ++n) {
            const auto quarter =
                static_cast<std::size_t>(4 * static_cast<double>(all[n]) / train_frames);
            parts[(quarter + (n % 20 == 0 ? 1 : 0)) % 2].push_back(all[n]);
        }
        return parts;
    };
    const auto take = [](const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
        return take_turns({a, b, train_rate, train_frames});
    };
    const auto [first, second] = parts_of(neuron(1));
    EXPECT_TRUE(take(first, second));
    EXPECT_TRUE(take(second, first));
    // Two neurons, and parts at random.
    EXPECT_FALSE(take(neuron(2), neuron(3)));
    std::array<std::vector<std::int64_t>, 2> halves;
    for (const std::int64_t at : neuron(4)) halves[static_cast<std::size_t>(at % 2)].push_back(at);
    EXPECT_FALSE(take(halves[0], halves[1]));
    // A neuron that fires in one state of the animal, and another that does in the other state, at
    // a third of its rate.
    std::vector<std::int64_t> slow;
    const auto [awake, asleep] = parts_of(neuron(5));
    for (std::size_t n = 0; n < asleep.size(); n += 3) slow.push_back(asleep[n]);
    EXPECT_FALSE(take(awake, slow));
    // Too few spikes to tell.
    EXPECT_FALSE(take({first.begin(), first.begin() + 70}, second));
}

TEST(ShareAtOneLag, IsThatOfSpikesLockedToOthers) {
    const std::vector<std::int64_t> all = neuron(1);
    std::vector<std::int64_t> echoes;
    for (std::size_t n = 0; n < all.size(); n += 3) echoes.push_back(all[n] + 19);
    EXPECT_NEAR(share_at_one_lag(echoes, all, train_rate), 1, 0.02);
    EXPECT_NEAR(share_at_one_lag(neuron(2), all, train_rate), 0, 0.03);
    EXPECT_EQ(share_at_one_lag({}, all, train_rate), 0);
}

TEST(ShareBeside, DoesNotCountThoseBesideOthersByChance) {
    const std::vector<std::int64_t> all = neuron(1);
    std::vector<std::int64_t> around = all;
    std::mt19937_64 random(5);
    for (std::int64_t& at : around) at += static_cast<std::int64_t>(random() % 31) - 15;
    std::ranges::sort(around);
    EXPECT_NEAR(share_beside(around, all, train_rate), 1, 0.01);
    EXPECT_NEAR(share_beside(neuron(2), all, train_rate), 0, 0.03);
}

}  // namespace
}  // namespace spikeweave::templates
