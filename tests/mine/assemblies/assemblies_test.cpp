#include "spikeweave/mine/assemblies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <stop_token>

#include "mine/assemblies/pair_test.hpp"
#include "naive_assemblies.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

using timed_units = std::vector<std::pair<std::int64_t, unit_id>>;

spike_sequence sequence(timed_units spikes, std::uint32_t units, duration length) {
    std::ranges::sort(spikes);
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < units; ++u) names.push_back(std::string(1, char('a' + u)));
    return sequence_of(std::move(spikes), std::move(names), {0us, length});
}

// Spikes at the middle of bins of 10 ms: one text for each unit, with a digit for each bin.
spike_sequence drawn(const std::vector<std::string>& units) {
    timed_units spikes;
    for (std::uint32_t u = 0; u < units.size(); ++u)
        for (std::size_t bin = 0; bin < units[u].size(); ++bin)
            for (int n = 0; n < units[u][bin] - '0'; ++n)
                spikes.emplace_back(std::int64_t(bin) * 10'000 + 5'000 + n, unit_id{u});
    return sequence(std::move(spikes), static_cast<std::uint32_t>(units.size()),
                    10ms * std::int64_t(units[0].size()));
}

// Independent units with different rates, and moments at which units fire one after another, each
// `step` later, or at once.
struct planted {
    std::uint32_t units = 6;
    double hz = 4;
    int moments = 0;
    std::uint32_t size = 0;
    duration step = 0us;
    duration jitter = 1us;
    std::int64_t seconds = 60;
};

timed_units random_spikes(std::uint64_t seed, const planted& how) {
    std::mt19937_64 random(seed);
    timed_units out;
    const std::int64_t length = how.seconds * 1'000'000;
    for (std::uint32_t u = 0; u < how.units; ++u) {
        std::poisson_distribution<int> number(how.hz * (1 + 0.2 * u) * double(how.seconds));
        for (int n = number(random); n > 0; --n)
            out.emplace_back(std::int64_t(random() % std::uint64_t(length)), unit_id{u});
    }
    for (int m = 0; m < how.moments; ++m) {
        const auto at = std::int64_t(random() % std::uint64_t(length - 1'000'000));
        for (std::uint32_t u = 0; u < how.size; ++u)
            out.emplace_back(at + how.step.count() * u +
                                 std::int64_t(random() % std::uint64_t(how.jitter.count())),
                             unit_id{u});
    }
    return out;
}

spike_sequence random_recording(std::uint64_t seed, const planted& how) {
    return sequence(random_spikes(seed, how), how.units, how.seconds * 1s);
}

assembly_options one_width(duration bin, std::uint32_t max_lag = 3) {
    return {.bins = {bin}, .max_lag = max_lag};
}

std::vector<std::uint32_t> sorted_members(const assembly& of) {
    std::vector<std::uint32_t> out;
    for (const unit_id unit : of.units) out.push_back(static_cast<std::uint32_t>(unit));
    std::ranges::sort(out);
    return out;
}

TEST(PairTest, CountsTogetherAtEveryLag) {
    // The counts may begin in the first five of seven bins.
    const spike_sequence spikes = drawn({"1020100", "0101020"});
    const assemblies::layout bins(spikes, 10ms, 2, 100);
    const auto units = assemblies::series_of(spikes, bins, {});
    const auto at = assemblies::dense(units[1], bins);

    // b[t] with a[t + 2]: b1 a3=0, b3 a5=0. With a[t + 1]: b1 a2, b3 a4. With a[t]: none. a[t] with
    // b[t + 1]: a0 b1, a2 b3, a4 b5. With b[t + 2]: none.
    EXPECT_EQ(assemblies::joint_counts(units[0], at, bins),
              (std::vector<std::uint32_t>{0, 2, 0, 3, 0}));
}

TEST(PairTest, SubtractsWhatEveryBinHas) {
    const spike_sequence spikes = drawn({"2132121", "0101020"});
    const assemblies::layout bins(spikes, 10ms, 2, 100);
    const auto units = assemblies::series_of(spikes, bins, {});

    EXPECT_EQ(units[0].floor, 1);
    EXPECT_EQ(units[0].at_least, (std::vector<std::uint64_t>{4, 1}));
    EXPECT_EQ(units[0].total, 5U);
    EXPECT_EQ(units[1].floor, 0);
    const auto both = assemblies::joined(units[0], assemblies::dense(units[1], bins), 1, bins);
    EXPECT_EQ(both.count, (std::vector<std::int16_t>{1, 1}));  // above the floor: 1 0 2 1 0 1 0
    EXPECT_EQ(bins.time_of(both.at[1]), 20ms);
}

TEST(PairTest, TakesTheVarianceOfAllPermutations) {
    // A chunk is seven bins, and the two that follow are those of lags. Two counts of a chunk have
    // a covariance, by which the variance of their difference is (n - 2) / (n - 1) of twice the
    // own.
    for (const char* const text : {"0110100", "1200310", "3000021", "1110000"})
        for (const char* const other : {"1000110", "0210001", "2020200"}) {
            const spike_sequence spikes =
                drawn({std::string(text) + "00", std::string(other) + "00"});
            const assemblies::layout bins(spikes, 10ms, 2, 100);
            const auto units = assemblies::series_of(spikes, bins, {});
            std::string order = other;
            std::ranges::sort(order);
            double orders = 0;
            double sum = 0;
            double squares = 0;
            std::vector<int> places(7);
            std::iota(places.begin(), places.end(), 0);
            do {
                double joint = 0;
                for (std::size_t t = 0; t < 7; ++t)
                    joint += std::min(text[t], other[std::size_t(places[t])]) - '0';
                orders += 1;
                sum += joint;
                squares += joint * joint;
            } while (std::ranges::next_permutation(places).found);
            const double own = squares / orders - sum / orders * (sum / orders);
            EXPECT_NEAR(assemblies::difference_variance(units[0], units[1], 0, bins),
                        2 * own * 5 / 6, 1e-12)
                << text << ' ' << other;
        }
}

TEST(Assemblies, FindSynchronyWithItsUnits) {
    const spike_sequence spikes =
        random_recording(1, {.moments = 300, .size = 4, .jitter = 1000us});
    const mined_assemblies found = mine_assemblies(spikes, one_width(5ms));

    ASSERT_EQ(found.assemblies.size(), 1U);
    EXPECT_EQ(sorted_members(found.assemblies[0]), (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(found.assemblies[0].lags, (std::vector<std::int32_t>{0, 0, 0, 0}));
    EXPECT_LT(found.assemblies[0].p.back(), 1e-6);
    EXPECT_EQ(found.steps.size(), 4U);
    EXPECT_EQ(found.steps[0].tests, 15U);
    EXPECT_EQ(found.steps[2].kept, 1U);
    EXPECT_EQ(found.steps[3].significant, 0U);
}

TEST(Assemblies, FindSequencesWithTheirLags) {
    const spike_sequence spikes =
        random_recording(2, {.moments = 100, .size = 3, .step = 20ms, .jitter = 1000us});
    const mined_assemblies found = mine_assemblies(spikes, one_width(10ms, 5));

    ASSERT_EQ(found.assemblies.size(), 1U);
    const assembly& one = found.assemblies[0];
    for (std::size_t i = 0; i < 3; ++i) {
        const auto from = static_cast<std::int32_t>(one.units[0]);
        EXPECT_EQ(one.lags[i], 2 * (static_cast<std::int32_t>(one.units[i]) - from));
    }
    EXPECT_GE(one.counts.back(), 80U);
    std::uint64_t sum = 0;
    for (const assembly_activation& active : one.activations) sum += active.count;
    EXPECT_EQ(sum, one.counts.back());
}

TEST(Assemblies, FindRatesThatRiseTogetherInWideBinsOnly) {
    std::mt19937_64 random(3);
    timed_units spikes = random_spikes(3, {.hz = 2, .seconds = 300});
    for (int e = 0; e < 60; ++e) {
        const auto begin = std::int64_t(random() % 299'000'000);
        for (std::uint32_t u = 0; u < 3; ++u)
            for (int n = 0; n < 5; ++n)
                spikes.emplace_back(begin + std::int64_t(random() % 400'000), unit_id{u});
    }
    assembly_options options;
    options.bins = {5ms, 500ms};
    options.alpha = 0.001;
    const mined_assemblies found = mine_assemblies(sequence(std::move(spikes), 6, 300s), options);

    ASSERT_EQ(found.assemblies.size(), 1U);
    EXPECT_EQ(found.assemblies[0].bin, 500ms);
    EXPECT_EQ(sorted_members(found.assemblies[0]), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Assemblies, AreRareInIndependentUnits) {
    int recordings = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        recordings += !mine_assemblies(random_recording(seed, {.hz = 8}),
                                       {.bins = {10ms, 50ms, 200ms}, .max_lag = 5})
                           .assemblies.empty();
    EXPECT_LE(recordings, 9);  // with probability 0.999 if one in 20 has one
}

void expect_same(const mined_assemblies& found, const std::vector<naive::group>& wanted,
                 const std::string& what) {
    ASSERT_EQ(found.assemblies.size(), wanted.size()) << what;
    for (const naive::group& one : wanted) {
        const auto same = std::ranges::find_if(found.assemblies, [&](const assembly& other) {
            return std::ranges::equal(other.units, one.units,
                                      [](unit_id a, std::size_t b) { return to_index(a) == b; });
        });
        ASSERT_NE(same, found.assemblies.end()) << what;
        EXPECT_TRUE(std::ranges::equal(same->lags, one.lags)) << what;
        EXPECT_EQ(same->counts, one.counts) << what;
        for (std::size_t i = 0; i < one.p.size(); ++i)
            EXPECT_NEAR(same->p[i], one.p[i], 1e-9 * one.p[i] + 1e-300) << what;
        std::uint64_t bins = 0;
        for (const naive::counts& part : one.active)
            bins += std::uint64_t(std::ranges::count_if(part, [](int n) { return n > 0; }));
        EXPECT_EQ(same->activations.size(), bins) << what;
    }
}

TEST(AssembliesParity, EqualTheFormulasOnRandomRecordings) {
    std::size_t assemblies = 0;
    for (std::uint64_t seed = 0; seed < 48; ++seed) {
        std::mt19937_64 random(seed + 1000);
        const planted how{.units = 5,
                          .hz = 2.0 + double(random() % 12),
                          .moments = int(random() % 80),
                          .size = std::uint32_t(2 + random() % 4),
                          .step = 7ms * std::int64_t(random() % 5),
                          .jitter = 1ms + 10ms * std::int64_t(random() % 4),
                          .seconds = 30};
        spike_sequence spikes = random_recording(seed, how);
        if (seed % 3 == 0) {
            const std::vector<time_span> parts{{0s, 9s}, {10s, 10100ms}, {12s, 29500ms}};
            spikes = within_epochs(spikes, parts);
        }
        const duration bin = std::vector<duration>{5ms, 13ms, 40ms, 90ms}[seed % 4];
        assembly_options options = one_width(bin, std::uint32_t(2 + random() % 8));
        options.reference_lag = std::uint32_t(random() % 3);
        options.alpha = 0.3;  // more to compare
        options.chunk = std::uint32_t(20 + random() % 100);
        const naive::setting setting{.max_lag = int(options.max_lag),
                                     .reference_lag = int(options.reference_lag),
                                     .alpha = options.alpha,
                                     .chunk = int(options.chunk)};
        // Epochs that are too short for a lag take no part.
        naive::recording_counts counts = naive::bins_of(spikes, bin.count());
        for (naive::epoch_counts& unit : counts)
            std::erase_if(
                unit, [&](const naive::counts& part) { return part.size() <= options.max_lag; });
        const auto wanted = naive::find(counts, setting);
        assemblies += wanted.size();
        expect_same(mine_assemblies(spikes, options), wanted, std::to_string(seed));
    }
    EXPECT_GT(assemblies, 20U);
}

TEST(AssembliesProperty, AreTheSameOnAnyNumberOfThreads) {
    const spike_sequence spikes = random_recording(
        5, {.units = 9, .hz = 6, .moments = 120, .size = 5, .step = 10ms, .jitter = 8ms});
    assembly_options options;
    options.bins = {5ms, 20ms, 100ms};
    options.across_bins = bin_choice::every;
    const mined_assemblies one = mine_assemblies(spikes, options, {.threads = 1});
    const mined_assemblies four = mine_assemblies(spikes, options, {.threads = 4});

    EXPECT_FALSE(one.assemblies.empty());
    EXPECT_EQ(one.assemblies, four.assemblies);
    EXPECT_EQ(one.steps, four.steps);
}

TEST(AssembliesProperty, DoNotReachFromOneEpochIntoAnother) {
    // a fires in the last bin of every epoch and b in the first one of the next.
    timed_units spikes;
    std::vector<time_span> epochs;
    for (int e = 0; e < 40; ++e) {
        epochs.push_back({e * 1s, e * 1s + 500ms});
        for (int n = 0; n < 12; ++n) {
            spikes.emplace_back(e * 1'000'000 + 490'000 + n * 800, unit_id{0});
            spikes.emplace_back(e * 1'000'000 + n * 800, unit_id{1});
        }
    }
    const spike_sequence parts = within_epochs(sequence(std::move(spikes), 2, 40s), epochs);
    EXPECT_TRUE(mine_assemblies(parts, one_width(10ms, 5)).assemblies.empty());
}

TEST(Assemblies, ChooseAmongBinWidths) {
    const spike_sequence spikes =
        random_recording(7, {.moments = 150, .size = 3, .step = 10ms, .jitter = 2ms});
    assembly_options options;
    options.bins = {5ms, 10ms, 20ms};
    options.across_bins = bin_choice::every;
    const mined_assemblies every = mine_assemblies(spikes, options);
    options.across_bins = bin_choice::best;
    const mined_assemblies best = mine_assemblies(spikes, options);
    options.across_bins = bin_choice::largest;
    const mined_assemblies largest = mine_assemblies(spikes, options);

    ASSERT_GT(every.assemblies.size(), best.assemblies.size());
    ASSERT_FALSE(largest.assemblies.empty());
    EXPECT_EQ(best.assemblies[0], every.assemblies[0]);
    EXPECT_EQ(best.steps, every.steps);
    for (const assembly& one : every.assemblies)
        EXPECT_GE(one.p.back(), every.assemblies[0].p.back());
    EXPECT_EQ(sorted_members(largest.assemblies[0]), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Assemblies, StopAtTheLargestSizeAndNumber) {
    const spike_sequence spikes =
        random_recording(1, {.moments = 300, .size = 4, .jitter = 1000us});
    assembly_options options = one_width(5ms);
    options.max_size = 2;
    EXPECT_EQ(mine_assemblies(spikes, options).assemblies.size(), 6U);
    options.max_size = 0;
    options.max_assemblies = 5;
    const mined_assemblies few = mine_assemblies(spikes, options);
    EXPECT_EQ(few.assemblies.size(), 6U);
    EXPECT_TRUE(few.steps.at(0).too_many);
    options.min_count = 100'000;
    EXPECT_TRUE(mine_assemblies(spikes, options).assemblies.empty());
}

TEST(Assemblies, CorrectForTheNumberOfBinWidths) {
    const spike_sequence spikes = random_recording(11, {.moments = 30, .size = 2});
    assembly_options options = one_width(5ms);
    const double p = mine_assemblies(spikes, options).assemblies.at(0).p[0];
    options.bins = {5ms, 1s};
    options.max_lag = 3;
    // A level that lies between p and half of it, once for 15 pairs and 7 lags.
    options.alpha = p * 15 * 7 * 1.5;
    ASSERT_LT(options.alpha, 1);
    EXPECT_TRUE(mine_assemblies(spikes, options).assemblies.empty());
    options.correct_bins = false;
    EXPECT_EQ(mine_assemblies(spikes, options).assemblies.size(), 1U);
    EXPECT_EQ(mine_assemblies(spikes, options).too_wide, (std::vector<duration>{1s}));
}

TEST(Assemblies, RefuseWhatCannotBe) {
    const spike_sequence spikes = random_recording(1, {});
    const auto refused = [&](auto change, const spike_sequence& what) {
        assembly_options options;
        change(options);
        try {
            mine_assemblies(what, options);
        } catch (const invalid_argument& error) {
            return error.field();
        }
        return std::string("nothing");
    };
    EXPECT_EQ(refused([](auto& o) { o.bins.clear(); }, spikes), "bins");
    EXPECT_EQ(refused([](auto& o) { o.bins = {0ms}; }, spikes), "bins");
    EXPECT_EQ(refused([](auto& o) { o.bins = {5ms, 5ms}; }, spikes), "bins");
    EXPECT_EQ(refused([](auto& o) { o.bins = {10s}; }, spikes), "bins");
    EXPECT_EQ(refused([](auto& o) { o.reference_lag = 11; }, spikes), "reference_lag");
    EXPECT_EQ(refused([](auto& o) { o.max_lag = 1; }, spikes), "max_lag");
    EXPECT_EQ(refused([](auto& o) { o.alpha = 0; }, spikes), "alpha");
    EXPECT_EQ(refused([](auto& o) { o.chunk = 2; }, spikes), "chunk");
    timed_units many;
    for (int i = 0; i < 40'000; ++i) many.emplace_back(i, unit_id{0});
    EXPECT_EQ(refused([](auto& o) { o.bins = {50ms}; }, sequence(many, 2, 60s)), "bins");
    EXPECT_EQ(refused([](auto& o) { o.bins = {1us}; }, sequence({}, 2, 3000s)), "bins");
    EXPECT_TRUE(mine_assemblies(sequence({}, 0, 60s)).assemblies.empty());
}

TEST(Assemblies, StopOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(mine_assemblies(random_recording(1, {}), {}, {.stop = stop.get_token()}),
                 cancelled);
}

}  // namespace
}  // namespace spikeweave
