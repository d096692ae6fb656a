#include "spikeweave/spikes/epochs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using enum surrogate_method;

spike_sequence sym26_with_epochs(std::vector<time_span> epochs) {
    return within_epochs(simulate_sym26({.length = 20s, .seed = 3}).spikes, epochs);
}

// Trials of 400 ms, one after another.
std::vector<time_span> touching_trials() {
    return regular_trials({0s, 20s}, 400ms, 0ms);
}

// The same epochs further apart: whatever happened between them was never observed.
spike_sequence moved_apart(const spike_sequence& spikes, duration gap) {
    std::vector<std::pair<std::int64_t, unit_id>> moved;
    std::vector<time_span> epochs;
    const auto before = spikes.epochs();
    for (std::size_t e = 0; e < before.size(); ++e) {
        const duration by = gap * static_cast<std::int64_t>(e);
        epochs.push_back({before[e].begin + by, before[e].end + by});
        for (std::size_t i = 0; i < spikes.size(); ++i)
            if (const duration time{spikes.times_us()[i]};
                time >= before[e].begin && time < before[e].end)
                moved.emplace_back((time + by).count(), spikes.units()[i]);
    }
    const time_span span{epochs.front().begin, epochs.back().end};
    return within_epochs(sequence_of(std::move(moved), spikes.unit_names(), span), epochs);
}

episode_table mined(const spike_sequence& spikes) {
    return mine_episodes(spikes, {.delays = default_delays(), .min_count = 30, .max_size = 3});
}

void expect_equal(const std::vector<episode_test>& found, const std::vector<episode_test>& others) {
    ASSERT_EQ(found.size(), others.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_DOUBLE_EQ(found[i].expected, others[i].expected) << i;
        ASSERT_DOUBLE_EQ(found[i].p, others[i].p) << i;
        ASSERT_DOUBLE_EQ(found[i].q, others[i].q) << i;
        ASSERT_DOUBLE_EQ(found[i].strength, others[i].strength) << i;
    }
}

TEST(TestsInEpochs, DoNotDependOnWhatLiesBetweenEpochs) {
    const spike_sequence spikes = sym26_with_epochs(touching_trials());
    const spike_sequence apart = moved_apart(spikes, 7s);
    const episode_table table = mined(spikes);
    ASSERT_EQ(mined(apart).episodes, table.episodes);
    ASSERT_GT(table.episodes.size(), 100U);
    for (const significance_test test :
         {significance_test::jitter, significance_test::exact, significance_test::chebyshev})
        expect_equal(test_against_null(spikes, table, {.test = test}),
                     test_against_null(apart, table, {.test = test}));
    const surrogate_options surrogates{.surrogates = 9, .method = interval_jitter, .seed = 1};
    EXPECT_EQ(count_in_surrogates(spikes, table, surrogates),
              count_in_surrogates(apart, table, surrogates));
}

// One epoch is a recording of its own.
TEST(TestsInEpochs, AreThoseOfARecordingIfThereIsOneEpoch) {
    const spike_sequence whole = simulate_sym26({.length = 20s, .seed = 3}).spikes;
    const time_span half{5s, 15s};
    const spike_sequence spikes = within_epochs(whole, std::vector{half});
    const spike_sequence alone = within_span(whole, {half.begin, half.end - 1us});
    const episode_table table = mined(spikes);
    ASSERT_EQ(mined(alone).episodes, table.episodes);
    for (const significance_test test : {significance_test::jitter, significance_test::exact}) {
        const auto found = test_against_null(spikes, table, {.test = test});
        const auto others = test_against_null(alone, table, {.test = test});
        for (std::size_t i = 0; i < found.size(); ++i) {
            ASSERT_NEAR(found[i].expected, others[i].expected, 1e-4 * others[i].expected);
            ASSERT_NEAR(found[i].p, others[i].p, 1e-3 * others[i].p);
        }
    }
    for (const surrogate_method method : {interval_jitter, spike_dithering, dither_spikes,
                                          dither_spike_train, jitter_spikes, shuffle_isis}) {
        const surrogate_options how{.surrogates = 5, .method = method, .seed = 1};
        EXPECT_EQ(count_in_surrogates(spikes, table, how), count_in_surrogates(alone, table, how));
    }
}

TEST(SurrogatesOfEpochs, LeaveEverySpikeInItsEpoch) {
    const spike_sequence spikes = sym26_with_epochs(touching_trials());
    const auto in_epochs = [](const spike_sequence& of) {
        std::vector<std::size_t> counts;
        for (const time_span& epoch : of.epochs()) {
            const auto times = of.times_us();
            counts.push_back(static_cast<std::size_t>(
                std::lower_bound(times.begin(), times.end(), epoch.end.count()) -
                std::lower_bound(times.begin(), times.end(), epoch.begin.count())));
        }
        return counts;
    };
    for (const surrogate_method method :
         {interval_jitter, spike_dithering, dither_spikes, dither_spikes_with_refractory_period,
          dither_spike_train, jitter_spikes, randomise_spikes, shuffle_isis, joint_isi_dithering,
          isi_dithering, trial_shifting}) {
        const surrogate_spikes made =
            surrogate_maker(spikes, {.method = method, .dither = 15ms, .seed = 2}).make_sequence(0);
        ASSERT_TRUE(std::ranges::equal(made.spikes.epochs(), spikes.epochs()));
        EXPECT_NE(made.spikes, spikes);
        const auto before = in_epochs(spikes);
        const auto after = in_epochs(made.spikes);
        if (made.dropped + made.merged == 0) {
            EXPECT_EQ(after, before) << to_string(method);
        }
        for (std::size_t e = 0; e < before.size(); ++e)
            EXPECT_LE(after[e], before[e]) << to_string(method);
        EXPECT_EQ(made.spikes.size() + made.dropped + made.merged, spikes.size());
    }
    EXPECT_THROW(surrogate_maker(spikes, {.method = bin_shuffling, .dither = 15ms}),
                 invalid_argument);
}

// A tenth of the time has a tenth of the occurrences that chance gives.
TEST(TestsInEpochs, CountTheTimeThatIsReallyThere) {
    const spike_sequence whole = simulate_poisson({.units = 6, .length = 100s, .seed = 4}).spikes;
    std::vector<time_span> tenth;
    for (std::int64_t i = 0; i < 100; ++i) tenth.push_back({i * 1s, i * 1s + 100ms});
    const spike_sequence spikes = within_epochs(whole, tenth);
    ASSERT_EQ(spikes.observed_time(), 10s);
    for (std::uint32_t a = 0; a < 6; ++a) {
        const episode pair{{unit_id{a}, unit_id{(a + 1) % 6}}, {{4ms, 8ms}}};
        const double in_all = independent_model(whole, pair, 1ms).expected_count();
        const double in_tenth = independent_model(spikes, pair, 1ms).expected_count();
        // Nothing follows in the last 4 to 8 of 100 ms.
        EXPECT_NEAR(in_tenth, 0.095 * in_all, 0.035 * in_all);
        EXPECT_DOUBLE_EQ(independent_model(spikes, pair, 1ms).ticks, 10'000);
    }
}

}  // namespace
}  // namespace spikeweave
