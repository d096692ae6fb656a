#include "spikeweave/assess/episodes/scarce_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

constexpr unit_id a{0};
constexpr unit_id b{1};

spike_sequence independent(duration length = 300s) {
    return simulate_poisson({.units = 4, .length = length, .rate_hz = 20, .seed = 3}).spikes;
}

// Without the spikes of unit b that follow one of unit a by such a lag, in microseconds.
spike_sequence without(const spike_sequence& spikes,
                       const std::function<bool(std::int64_t)>& is_removed) {
    const spike_trains trains(spikes);
    std::vector<std::pair<std::int64_t, unit_id>> kept;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::int64_t time = spikes.times_us()[i];
        const bool removed =
            spikes.units()[i] == b && std::ranges::any_of(trains.times_us(a), [&](std::int64_t t) {
                return std::abs(time - t) < 20'000 && is_removed(time - t);
            });
        if (!removed) kept.emplace_back(time, spikes.units()[i]);
    }
    return sequence_of(std::move(kept), spikes.unit_names(), spikes.span());
}

spike_sequence inhibited(duration length = 300s) {
    return without(independent(length), [](std::int64_t lag) { return lag > 1000 && lag <= 4000; });
}

std::vector<scarce_pair> significant(const spike_sequence& spikes,
                                     const std::vector<delay_interval>& delays = {{1ms, 4ms}}) {
    std::vector<scarce_pair> out = find_scarce_pairs(spikes, delays);
    std::erase_if(out, [](const scarce_pair& pair) { return pair.kind == scarcity::none; });
    return out;
}

TEST(ScarcePairs, FindInhibitionAndNothingElse) {
    EXPECT_TRUE(significant(independent(), default_delays()).empty());
    const auto found = significant(inhibited(), default_delays());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].from, a);
    EXPECT_EQ(found[0].to, b);
    EXPECT_EQ(found[0].delay, (delay_interval{1ms, 4ms}));
    EXPECT_EQ(found[0].kind, scarcity::putative_inhibition);
    EXPECT_EQ(found[0].count, 0U);
    EXPECT_EQ(found[0].ratio(), 0);
    EXPECT_GT(found[0].expected, 100);
    EXPECT_LT(found[0].q, 1e-20);
}

TEST(ScarcePairs, AreAllPairsThatCouldBeSignificantByTheirP) {
    const auto all = find_scarce_pairs(inhibited(), default_delays());
    EXPECT_EQ(all.size(), 4U * 3 * 4);
    EXPECT_TRUE(std::ranges::is_sorted(all, {}, &scarce_pair::p));
    for (const scarce_pair& pair : all) {
        EXPECT_NE(pair.from, pair.to);
        EXPECT_GE(pair.q, pair.p);
    }
    // Too few spikes to miss any, and few enough for some pairs only.
    EXPECT_TRUE(find_scarce_pairs(independent(2s), default_delays()).empty());
    const auto some = find_scarce_pairs(independent(7s), default_delays());
    EXPECT_GT(some.size(), 0U);
    EXPECT_LT(some.size(), 4U * 3 * 4);
}

TEST(ScarcePairs, AreNoInhibitionBesideAConnection) {
    const spike_sequence spikes = independent();
    const spike_trains trains(spikes);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        all.emplace_back(spikes.times_us()[i], spikes.units()[i]);
    for (const std::int64_t time : trains.times_us(a))
        if (time % 2 == 0 && time + 5000 < spikes.span().end.count())
            all.emplace_back(time + 5000, b);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());

    const auto found = significant(sequence_of(std::move(all), spikes.unit_names(), spikes.span()),
                                   default_delays());

    EXPECT_FALSE(found.empty());
    for (const scarce_pair& pair : found) EXPECT_EQ(pair.kind, scarcity::beside_excess);
}

TEST(ScarcePairs, AreNoInhibitionIfSynchronousSpikesAreMissingToo) {
    const auto found =
        significant(without(independent(), [](std::int64_t lag) { return std::abs(lag) <= 4000; }));
    ASSERT_EQ(found.size(), 2U);
    for (const scarce_pair& pair : found) EXPECT_EQ(pair.kind, scarcity::dead_time);
}

TEST(ScarcePairs, AreNoInhibitionBetweenUnitsThatShareSpikes) {
    const spike_sequence spikes = independent();
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        if (spikes.units()[i] == a) {
            // One neuron with a dead time, counted twice.
            if (!all.empty() && spikes.times_us()[i] - all[all.size() - 2].first < 5000) continue;
            all.emplace_back(spikes.times_us()[i], a);
            all.emplace_back(spikes.times_us()[i] + 50, b);
        }
    const auto found = significant(sequence_of(std::move(all), {"a", "b"}, spikes.span()));
    ASSERT_EQ(found.size(), 2U);
    for (const scarce_pair& pair : found) EXPECT_EQ(pair.kind, scarcity::shared_spikes);
}

TEST(ScarcePairs, AreFoundWithinEpochs) {
    std::vector<time_span> epochs;
    for (int i = 0; i < 500; ++i) epochs.push_back({i * 600ms, i * 600ms + 500ms});
    const auto found = significant(within_epochs(inhibited(), epochs), default_delays());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].to, b);
}

TEST(ScarcePairs, NeedTheTestJitter) {
    const std::vector<delay_interval> delays{{1ms, 4ms}};
    EXPECT_THROW(find_scarce_pairs({}, delays, tie_rule::time, {.test = significance_test::exact}),
                 invalid_argument);
    EXPECT_THROW(find_scarce_pairs({}, delays, tie_rule::time, {.jitter_window = 10us}),
                 invalid_argument);
    EXPECT_TRUE(find_scarce_pairs({}, delays).empty());
    EXPECT_TRUE(find_scarce_pairs(independent(2s), {}).empty());
}

}  // namespace
}  // namespace spikeweave
