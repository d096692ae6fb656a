#include "spikeweave/assess/episodes/correlogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Compares each spike with each one.
std::vector<std::uint64_t> counted_slowly(const spike_sequence& spikes, const lags_of_pair& pair) {
    const std::int64_t reach = pair.bins.reach().count();
    std::vector<std::uint64_t> out(2 * pair.bins.each_side, 0);
    for (std::size_t i = 0; i < spikes.size(); ++i)
        for (std::size_t j = 0; j < spikes.size(); ++j) {
            if (i == j || spikes.units()[i] != pair.from || spikes.units()[j] != pair.to) continue;
            for (std::size_t bin = 0; bin < out.size(); ++bin) {
                const std::int64_t low =
                    static_cast<std::int64_t>(bin) * pair.bins.width.count() - reach;
                const std::int64_t lag = spikes.times_us()[j] - spikes.times_us()[i];
                if (lag > low && lag <= low + pair.bins.width.count()) ++out[bin];
            }
        }
    return out;
}

TEST(CrossCorrelogram, CountsEveryPairOfSpikesInItsBin) {
    for (std::size_t seed = 0; seed < property_cases(400); ++seed) {
        random_streams draw(seed);
        const spike_sequence spikes = draw.spikes(40, 3);
        std::vector<lags_of_pair> pairs;
        for (std::uint32_t from = 0; from < 3; ++from)
            for (std::uint32_t to = 0; to < 3; ++to)
                pairs.push_back({unit_id{from},
                                 unit_id{to},
                                 {duration{1 + static_cast<std::int64_t>(draw.below(4))},
                                  1 + static_cast<std::size_t>(draw.below(6))}});
        const auto counts = cross_correlograms(spikes, pairs, {.threads = 2});
        for (std::size_t i = 0; i < pairs.size(); ++i)
            ASSERT_EQ(counts[i], counted_slowly(spikes, pairs[i])) << "seed " << seed << ", " << i;
    }
}

// The lags of each pair of spikes in the window around the middle of a bin, and beside it.
std::vector<double> expected_slowly(const spike_sequence& spikes, const tested_lags& tested,
                                    std::int64_t cell) {
    const auto& [pair, window, sign] = tested;
    const std::int64_t width = pair.bins.width.count();
    const std::int64_t length = (window.high - window.low).count();
    std::vector<double> out;
    for (std::int64_t begin = -pair.bins.reach().count(); begin < pair.bins.reach().count();
         begin += width) {
        const std::int64_t low = begin + width / 2 - length / 2;
        std::int64_t beside = 0;
        for (std::size_t i = 0; i < spikes.size(); ++i)
            for (std::size_t j = 0; j < spikes.size(); ++j) {
                if (i == j || spikes.units()[i] != pair.from || spikes.units()[j] != pair.to)
                    continue;
                const std::int64_t lag = spikes.times_us()[j] - spikes.times_us()[i];
                const bool is_in = lag > low && lag <= low + length;
                beside += !is_in && lag > low - cell / 2 && lag <= low + length + cell / 2 ? 1 : 0;
            }
        out.push_back(static_cast<double>(beside * width) / static_cast<double>(cell / 2 * 2));
    }
    return out;
}

TEST(ExpectedCorrelogram, CountsThePairsBesideTheWindow) {
    double all = 0;
    for (std::size_t seed = 0; seed < property_cases(100); ++seed) {
        random_streams draw(seed);
        const spike_sequence spikes = draw.spikes(40, 2);
        const auto sign =
            draw.below(2) > 0 ? connection_sign::inhibitory : connection_sign::excitatory;
        const duration low{static_cast<std::int64_t>(draw.below(3000))};
        const tested_lags tested{
            {unit_id{0},
             unit_id{draw.below(2) > 0 ? 1U : 0U},
             {duration{1 + static_cast<std::int64_t>(draw.below(30))}, 4}},
            {low, low + duration{1 + static_cast<std::int64_t>(draw.below(1000))}},
            sign};
        const std::int64_t cell =
            std::max<std::int64_t>(1000, 3 * (tested.window.high - tested.window.low).count()) *
            (sign == connection_sign::inhibitory ? 2 : 1);
        const auto found = edge_correlograms(spikes, std::span{&tested, 1}, 1ms);
        const std::vector<double> slow = expected_slowly(spikes, tested, cell);
        ASSERT_EQ(found[0].counts, cross_correlograms(spikes, {&tested.pair, 1}).front())
            << "seed " << seed;
        for (std::size_t bin = 0; bin < slow.size(); ++bin) {
            ASSERT_NEAR(found[0].expected[bin], slow[bin], 1e-9)
                << "seed " << seed << ", bin " << bin;
            all += slow[bin];
        }
    }
    if (!is_shortened_run()) {
        EXPECT_GT(all, 0);
    }
}

TEST(ExpectedCorrelogram, IsWhatTheTestOfPairsExpects) {
    std::mt19937_64 draw(1);
    const std::array units{unit_id{0}, unit_id{1}};
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::size_t i = 0; i < 4000; ++i) {
        const auto at = static_cast<std::int64_t>(draw() % 99'000'000);
        all.emplace_back(at, units[i % 2]);
        if (i % 4 == 0)
            all.emplace_back(at + 4500 + static_cast<std::int64_t>(draw() % 1000), units[1]);
    }
    const spike_sequence spikes = sequence_of(std::move(all), {"a", "b"}, {0s, 100s});
    const std::array<delay_interval, 1> delays{{{4ms, 6ms}}};
    const pair_tests tests = test_pairs(spikes, delays);
    const auto ahead = std::ranges::find(tests.pairs, units[0], &pair_test::from);
    ASSERT_NE(ahead, tests.pairs.end());
    const tested_lags tested{{units[0], units[1], {2ms, 5}}, delays[0]};

    const auto found = edge_correlograms(spikes, std::span{&tested, 1}, 10ms);

    // The bin of 4 to 6 ms.
    EXPECT_GT(static_cast<double>(ahead->count), 4 * ahead->expected);
    EXPECT_NEAR(found[0].expected[7], ahead->expected, 0.02 * ahead->expected);
}

TEST(CrossCorrelogram, TakesNoLagFromOneEpochIntoAnother) {
    spike_sequence_builder builder;
    const unit_id a = builder.unit("a");
    const unit_id b = builder.unit("b");
    builder.append(1000, a);
    builder.append(2500, b);
    builder.append(3000, a);
    builder.append(4500, b);
    const spike_sequence whole = builder.finish();
    const std::vector<time_span> epochs{{0ms, 2ms}, {2ms, 10ms}};
    const lags_of_pair pair{a, b, {1ms, 5}};

    EXPECT_EQ(cross_correlograms(whole, {&pair, 1}).front(),
              (std::vector<std::uint64_t>{0, 0, 0, 0, 1, 0, 2, 0, 1, 0}));
    EXPECT_EQ(cross_correlograms(within_epochs(whole, epochs), {&pair, 1}).front(),
              (std::vector<std::uint64_t>{0, 0, 0, 0, 1, 0, 1, 0, 0, 0}));
}

TEST(CrossCorrelogram, TakesBinsThatReachFarBeyondTheDelay) {
    EXPECT_EQ(bins_for({1ms, 4ms}).width, 200us);
    EXPECT_EQ(bins_for({0ms, 1ms}).width, 200us);  // 10 ms at least
    EXPECT_EQ(bins_for({4ms, 6ms}).width, 500us);
    EXPECT_EQ(bins_for({50ms, 150ms}).width, 10ms);
    EXPECT_EQ(bins_for({1s, 1000s}).reach(), 3000s);
}

TEST(CrossCorrelogram, RefusesUnitsAndBinsThatDoNotExist) {
    spike_sequence_builder builder;
    builder.append(1000, builder.unit("a"));
    const spike_sequence spikes = builder.finish();
    for (const lags_of_pair& wrong :
         {lags_of_pair{unit_id{0}, unit_id{1}, {1ms, 5}}, lags_of_pair{unit_id{0}, unit_id{0}, {}},
          lags_of_pair{unit_id{0}, unit_id{0}, {1ms, 0}}})
        EXPECT_THROW(cross_correlograms(spikes, {&wrong, 1}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
