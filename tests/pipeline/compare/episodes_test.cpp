#include "spikeweave/pipeline/compare/episodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Six units; n1 follows n0, and n3 follows n2, with these probabilities.
spike_sequence connected(double first, double second, std::uint32_t seed, duration length = 60s,
                         double rate_hz = 12) {
    const spike_sequence chance =
        simulate_poisson({.units = 6, .length = length, .rate_hz = rate_hz, .seed = seed}).spikes;
    random_stream random(seed, random_purpose::pattern_times, 1);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::size_t i = 0; i < chance.size(); ++i) {
        const std::int64_t time = chance.times_us()[i];
        const auto unit = to_index(chance.units()[i]);
        all.emplace_back(time, chance.units()[i]);
        const double strength = unit == 0 ? first : unit == 2 ? second : 0;
        const auto delay = static_cast<std::int64_t>(5'000 + random.below(2'000));
        if (random.uniform() < strength && time + delay < chance.span().end.count())
            all.emplace_back(time + delay, unit_id{static_cast<std::uint32_t>(unit + 1)});
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return sequence_of(std::move(all), chance.unit_names(), chance.span());
}

episode_comparison_options usual() {
    return {.permutation = {.permutations = 1'999, .seed = 1}};
}

episode_comparison compared(const spike_sequence& a, const spike_sequence& b,
                            const episode_comparison_options& options = usual()) {
    return compare_episodes({{std::vector{a}, std::vector{b}}}, options);
}

const episode_change* finding(const episode_comparison& result, std::uint32_t from,
                              std::uint32_t to) {
    for (const episode_change& one : result.findings)
        if (one.what.units == std::vector{unit_id{from}, unit_id{to}}) return &one;
    return nullptr;
}

TEST(CompareConditions, FindsWhatChangedAndNothingElse) {
    const auto result = compared(connected(0.3, 0.3, 1), connected(0.3, 0.7, 2));
    EXPECT_EQ(result.samples, sample_kind::blocks);
    EXPECT_EQ(result.conditions[0].samples, 6U);
    const episode_change* const same = finding(result, 0, 1);
    const episode_change* const stronger = finding(result, 2, 3);
    ASSERT_NE(same, nullptr);
    ASSERT_NE(stronger, nullptr);
    EXPECT_EQ(same->change, change_kind::none);
    EXPECT_EQ(stronger->change, change_kind::excess);
    EXPECT_LT(stronger->excess_q, 0.05);
    EXPECT_GT(stronger->excess.difference.low, 0.1);
    EXPECT_GT(stronger->rate.ratio.low, 1.2);
}

// With twice the rate of the first unit, the pair occurs more often, but its first unit is followed
// as reliably as before.
TEST(CompareConditions, TellsAChangeOfRatesFromOneOfConnections) {
    const auto result = compared(connected(0.4, 0.4, 3, 120s, 8), connected(0.4, 0.4, 4, 120s, 14));
    const episode_change* const pair = finding(result, 0, 1);
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->change, change_kind::rate);
    EXPECT_GT(pair->rate.ratio.low, 1.3);
    EXPECT_LT(std::abs(pair->excess.difference.value), 0.06);
}

// "0" fires in every sixth cell of 10 ms, 3 ms after it begins, in one or two spikes that are 1 ms
// apart. One of four of its spikes is followed by "1" after 5 ms.
spike_sequence one_of_four_followed(std::int64_t spikes_a_burst) {
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::int64_t burst = 0; burst < 1000; ++burst) {
        const std::int64_t begin = burst * 60'000 + 3'000;
        for (std::int64_t spike = 0; spike < spikes_a_burst; ++spike)
            all.emplace_back(begin + spike * 1'000, unit_id{0});
        if (burst * spikes_a_burst % 4 == 0) all.emplace_back(begin + 5'000, unit_id{1});
    }
    return sequence_of(std::move(all), {"0", "1"}, {0s, 60s});
}

// A rotated spike keeps its place before a follower, within 4 to 6 ms, with a probability of 2 ms
// by 10 ms; one of the two spikes of a burst does so with 3 ms by 10 ms.
TEST(CompareConditions, DivideByWhatRotationRemoves) {
    episode_comparison_options options = usual();
    options.mining.delays = {{4ms, 6ms}};
    const auto result = compared(one_of_four_followed(1), one_of_four_followed(2), options);
    ASSERT_EQ(result.findings.size(), 1U);
    const episode_change& pair = result.findings[0];
    EXPECT_EQ(pair.counts, (std::array<std::uint64_t, 2>{250, 500}));
    EXPECT_EQ(pair.first_spikes, (std::array<std::uint64_t, 2>{1000, 2000}));
    // An interval of 2 ms has 2000 or 2001 of the times in microseconds.
    EXPECT_NEAR(pair.expected[0], 250 * 0.2, 0.1);
    EXPECT_NEAR(pair.expected[1], 500 * 0.3, 0.1);
    EXPECT_NEAR(pair.removed[0], 1000 * 0.8, 0.5);
    EXPECT_NEAR(pair.removed[1], 2000 * 0.7, 0.5);
    EXPECT_NEAR(pair.excess.a, 0.25, 0.001);
    EXPECT_NEAR(pair.excess.b, 0.25, 0.001);
}

// Where "0" fires every 2 ms, a rotation removes nothing that could be distinguished from rounding.
TEST(CompareConditions, LeaveOutTheExcessOfAUnitThatFiresAllTheTime) {
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::int64_t us = 0; us < 10'000'000; us += 2'000) {
        all.emplace_back(us, unit_id{0});
        if (us % 20'000 == 0) all.emplace_back(us + 1, unit_id{1});
    }
    const spike_sequence regular = sequence_of(std::move(all), {"0", "1"}, {0s, 10s});
    const std::vector<spike_sequence> a(4, one_of_four_followed(1));
    std::vector<spike_sequence> b = a;
    b.back() = regular;
    episode_comparison_options options = usual();
    options.mining.delays = {{4ms, 8ms}};

    const episode_comparison result = compare_episodes({{a, b}}, options);

    const episode_change* pair = finding(result, 0, 1);
    ASSERT_NE(pair, nullptr);
    EXPECT_NEAR(pair->excess.a, 0.25, 0.001);
    EXPECT_NEAR(pair->excess.b, 0.25, 0.001);
}

// "0" fires in bursts of so many spikes, and each spike is followed with the same probability by
// "1", which does not fire otherwise.
spike_sequence followed_bursts(std::uint64_t spikes_a_burst, double probability,
                               std::uint32_t seed) {
    random_stream random(seed, random_purpose::poisson_spikes, 1);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    double time = 0;
    for (std::uint64_t n = 0; time < 119e6; ++n) {
        time += n % spikes_a_burst == 0 ? 60'000 + 80'000 * random.uniform()
                                        : 3'000 + 5'000 * random.uniform();
        const auto us = static_cast<std::int64_t>(time);
        all.emplace_back(us, unit_id{0});
        if (random.uniform() < probability)
            all.emplace_back(us + 4'200 + static_cast<std::int64_t>(random.below(1'600)),
                             unit_id{1});
    }
    std::ranges::sort(all);
    return sequence_of(std::move(all), {"0", "1"}, {0s, 120s});
}

TEST(CompareConditions, TellBurstsFromConnections) {
    episode_comparison_options options = usual();
    options.mining.delays = {{4ms, 6ms}};
    const auto result = compared(followed_bursts(1, 0.2, 1), followed_bursts(9, 0.2, 2), options);
    const episode_change* const pair = finding(result, 0, 1);
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->change, change_kind::rate);
    // The standard errors are about 0.013 and 0.006.
    EXPECT_NEAR(pair->excess.a, 0.2, 0.04);
    EXPECT_NEAR(pair->excess.b, 0.2, 0.04);
}

TEST(CompareConditions, CountsInEachPartWhatTheSearchCountsThere) {
    const spike_sequence a = connected(0.4, 0.4, 5);
    const spike_sequence b = connected(0.4, 0.6, 6);
    const auto result = compared(a, b);
    ASSERT_GE(result.findings.size(), 2U);
    const std::vector<time_span> blocks = [&] {
        std::vector<time_span> out;
        for (int i = 0; i < 6; ++i) out.push_back({10s * i, 10s * (i + 1)});
        return out;
    }();
    for (const std::size_t c : {0U, 1U}) {
        const spike_sequence part = within_epochs(c == 0 ? a : b, blocks);
        for (const episode_change& one : result.findings)
            EXPECT_EQ(count_episodes(part, std::vector{one.what}).counts.front(), one.counts[c]);
    }
}

// "0" fires every 60 ms, and of its spikes in each block of 10 s so many are followed by "1".
spike_sequence followed_in_blocks(const std::vector<std::uint64_t>& followed, duration end) {
    std::vector<std::pair<std::int64_t, unit_id>> all;
    const auto blocks = static_cast<std::int64_t>(followed.size());
    for (std::int64_t block = 0; block < blocks; ++block)
        for (std::int64_t i = 0; i < 160; ++i) {
            const std::int64_t time = block * 10'000'000 + i * 60'000 + 3'000;
            all.emplace_back(time, unit_id{0});
            if (i < static_cast<std::int64_t>(followed[static_cast<std::size_t>(block)]))
                all.emplace_back(time + 5'000, unit_id{1});
        }
    // A spike at the end of the recording belongs to it.
    all.emplace_back(end.count(), unit_id{0});
    return sequence_of(std::move(all), {"0", "1"}, {0s, end});
}

// Many labellings of such counts have the same difference, and count as reached.
TEST(CompareConditions, TakesAllBlocksForEquallyLong) {
    for (std::uint32_t seed = 0; seed < property_cases(20); ++seed) {
        random_stream random(seed, random_purpose::pattern_times, 0);
        std::array<std::vector<std::uint64_t>, 2> followed;
        std::vector<ratio_sample> samples;
        for (std::vector<std::uint64_t>& of : followed)
            for (int block = 0; block < 4; ++block) {
                of.push_back(40 + random.below(3));
                samples.push_back({static_cast<double>(of.back()), 10});
            }
        episode_comparison_options options = usual();
        options.mining.delays = {{4ms, 6ms}};

        const duration end = seed % 2 == 0 ? duration{40s} : 40s - 1us;
        const auto result = compared(followed_in_blocks(followed[0], end),
                                     followed_in_blocks(followed[1], end), options);

        ASSERT_EQ(result.findings.size(), 1U);
        const std::vector<std::vector<ratio_sample>> rates{samples};
        const ratio_change expected = compare_ratios(rates, 4, options.permutation, {}).front();
        EXPECT_EQ(result.findings[0].rate.p, expected.p) << seed;
        EXPECT_EQ(result.findings[0].rate.a, expected.a) << seed;
        EXPECT_EQ(result.findings[0].rate.b, expected.b) << seed;
        EXPECT_EQ(result.findings[0].first_spikes, (std::array<std::uint64_t, 2>{641, 641}));
    }
}

TEST(CompareConditions, GivesTheSamePIfConditionsAreExchanged) {
    const spike_sequence a = connected(0.4, 0.4, 7);
    const spike_sequence b = connected(0.4, 0.6, 8);
    // There are 924 labellings of 6 and 6 blocks, so all are made.
    const auto one = compared(a, b);
    const auto other = compared(b, a);
    ASSERT_TRUE(one.labellings.exact);
    ASSERT_EQ(one.findings.size(), other.findings.size());
    for (std::size_t i = 0; i < one.findings.size(); ++i) {
        EXPECT_EQ(one.findings[i].what, other.findings[i].what);
        EXPECT_EQ(one.findings[i].rate.p, other.findings[i].rate.p);
        EXPECT_NEAR(one.findings[i].excess.difference.value,
                    -other.findings[i].excess.difference.value, 1e-9);
    }
}

TEST(CompareConditions, DoesNotDependOnThreads) {
    const spike_sequence a = connected(0.4, 0.4, 9, 200s);
    const spike_sequence b = connected(0.4, 0.5, 10, 200s);
    episode_comparison_options options = usual();
    options.run.threads = 1;
    const auto one = compared(a, b, options);
    options.run.threads = 3;
    const auto three = compared(a, b, options);
    ASSERT_FALSE(one.labellings.exact);
    ASSERT_EQ(one.findings.size(), three.findings.size());
    for (std::size_t i = 0; i < one.findings.size(); ++i) {
        EXPECT_EQ(one.findings[i].rate.p, three.findings[i].rate.p);
        EXPECT_EQ(one.findings[i].excess.p, three.findings[i].excess.p);
    }
}

TEST(CompareConditions, WeighsRecordingsTheSame) {
    std::vector<spike_sequence> a;
    std::vector<spike_sequence> b;
    for (std::uint32_t i = 0; i < 4; ++i) {
        a.push_back(connected(0.3, 0.3, 20 + i, i == 0 ? 60s : 30s));
        b.push_back(connected(0.3, 0.7, 30 + i, 30s));
    }
    const auto result = compare_episodes({{a, b}}, usual());
    EXPECT_EQ(result.samples, sample_kind::recordings);
    EXPECT_EQ(result.labellings.number, 70U);
    const episode_change* const pair = finding(result, 2, 3);
    ASSERT_NE(pair, nullptr);
    EXPECT_DOUBLE_EQ(pair->excess.p, 2.0 / 70);
    double mean = 0;
    for (const spike_sequence& one : a)
        mean += static_cast<double>(count_episodes(one, {&pair->what, 1}).counts[0]) /
                (to_seconds(one.span().length()) + 1e-6) / 4;
    EXPECT_NEAR(pair->rate.a, mean, 1e-9);
}

TEST(CompareConditions, SaysInWhichRecordingsAFindingWasFound) {
    episode_comparison_options options = usual();
    options.findings = findings_source::either;
    const auto result = compared(connected(0.5, 0.0, 11), connected(0.5, 0.7, 12), options);
    const episode_change* const only_b = finding(result, 2, 3);
    ASSERT_NE(only_b, nullptr);
    EXPECT_EQ(only_b->found, (std::array<std::size_t, 2>{0, 1}));
    EXPECT_EQ(finding(result, 0, 1)->found, (std::array<std::size_t, 2>{1, 1}));
}

TEST(CompareConditions, ComparesUnitsByTheirNames) {
    const spike_sequence a = connected(0.5, 0.5, 13);
    const spike_sequence b =
        select_units(connected(0.5, 0.5, 14), std::vector<std::string>{"n2", "n3"});
    const auto result = compared(a, b);
    EXPECT_EQ(result.unit_names, (std::vector<std::string>{"n2", "n3"}));
    ASSERT_FALSE(result.warnings.empty());
    EXPECT_NE(result.warnings[0].find("2 units are in all recordings"), std::string::npos);
    EXPECT_NE(finding(result, 0, 1), nullptr);
}

TEST(CompareEpochs, ComparesEpochsOfOneRecording) {
    const spike_sequence spikes = connected(0.5, 0.5, 15);
    std::vector<time_span> odd;
    std::vector<time_span> even;
    for (int i = 0; i < 60; ++i) (i % 2 == 0 ? even : odd).push_back({1s * i, 1s * (i + 1)});
    const auto result = compare_episodes(conditions_of(spikes, even, odd), usual());
    EXPECT_EQ(result.samples, sample_kind::epochs);
    EXPECT_EQ(result.conditions[1].samples, 30U);
    EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
    ASSERT_NE(finding(result, 0, 1), nullptr);
    EXPECT_EQ(finding(result, 0, 1)->change, change_kind::none);
    odd.push_back({59s + 500ms, 60s});
    odd.back().begin = 58s + 500ms;
    EXPECT_THROW(conditions_of(spikes, even, std::vector{odd.back()}), invalid_argument);
}

void refuses(const std::string& says, const std::vector<spike_sequence>& a,
             const std::vector<spike_sequence>& b,
             const episode_comparison_options& options = usual()) {
    try {
        compare_episodes({{a, b}}, options);
        ADD_FAILURE() << says;
    } catch (const invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
}

TEST(CompareConditions, RefusesWhatCannotBe) {
    const spike_sequence usual_one = connected(0.3, 0.3, 16);
    const std::vector<spike_sequence> three(3, usual_one);
    refuses("the smallest p that their labellings can give is 0.1", three, three);
    refuses("two samples of each condition; there are 1 and 3", {usual_one}, three);
    refuses("each condition needs a recording", {}, three);
    const spike_sequence other({1'000}, {unit_id{0}}, {"else"}, {0s, 60s});
    refuses("no unit is in all recordings", {usual_one}, {other});
    const std::vector<time_span> epochs{{0s, 1s}, {2s, 3s}};
    refuses("epochs can be compared only with epochs", {usual_one},
            {within_epochs(usual_one, epochs)});
    episode_comparison_options options = usual();
    options.change_correction = correction_method::two_stage_bh;
    refuses("one alpha", {usual_one}, {usual_one}, options);
}

}  // namespace
}  // namespace spikeweave
