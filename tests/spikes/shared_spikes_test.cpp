#include "spikeweave/spikes/shared_spikes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {
namespace {

using train = std::vector<std::int64_t>;
using generator = std::mt19937_64;

constexpr std::int64_t sample_us = 50;  // 20 kHz

// A renewal process with a dead time of 2 ms.
train independent_train(generator& random, double rate_hz, double seconds) {
    constexpr double dead_us = 2'000;
    std::exponential_distribution<double> wait(1 / (1e6 / rate_hz - dead_us));
    train out;
    for (double at = dead_us + wait(random); at < seconds * 1e6; at += dead_us + wait(random))
        out.push_back(std::llround(at));
    return out;
}

// Keeps a share of a train's spikes, each moved.
train copy_of(const train& original, double kept, generator& random,
              const std::function<std::int64_t()>& move) {
    std::bernoulli_distribution keep(kept);
    train out;
    for (const std::int64_t at : original)
        if (keep(random)) out.push_back(at + move());
    return out;
}

train together(train a, const train& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

spike_sequence sequence(const std::vector<std::pair<std::string, train>>& trains) {
    spike_sequence_builder builder;
    for (const auto& [name, times] : trains)
        for (const std::int64_t at : times) builder.append(at, builder.unit(name));
    return builder.finish();
}

std::size_t repeating(const std::vector<shared_spike_pair>& pairs) {
    return static_cast<std::size_t>(
        std::ranges::count_if(pairs, [](const shared_spike_pair& pair) { return pair.repeats; }));
}

TEST(SharedSpikes, NamesACopyWithJitterMissingAndFalseSpikes) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        generator random(seed);
        for (const std::int64_t samples : {0, 1, 2}) {
            std::uniform_int_distribution<std::int64_t> jitter(-samples, samples);
            const train original = independent_train(random, 8, 200);
            const train copy = together(
                copy_of(original, 0.8, random, [&] { return 100 + sample_us * jitter(random); }),
                independent_train(random, 1.6, 200));
            const spike_sequence spikes =
                sequence({{"a", original}, {"b", copy}, {"c", independent_train(random, 20, 200)}});

            const auto pairs = find_shared_spikes(spikes);

            ASSERT_EQ(pairs.size(), 1U) << seed;
            EXPECT_TRUE(pairs[0].repeats) << seed;
            EXPECT_NEAR(pairs[0].share, 0.8, 0.06);
            EXPECT_EQ(std::max(pairs[0].fewer, pairs[0].more), spikes.unit("b"));
            EXPECT_NEAR(std::abs(static_cast<double>(pairs[0].lag.count())), 100, 51);
        }
    }
}

TEST(SharedSpikes, LetsSynchronousUnitsPass) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const double share : {0.3, 0.6, 0.9}) {
            for (const double jitter_us : {200., 500., 1'000.}) {
                generator random(seed);
                std::normal_distribution<double> jitter(0, jitter_us);
                const auto moved = [&] { return std::llround(jitter(random)); };
                const train input = independent_train(random, 20 * share, 200);
                const auto unit = [&] {
                    return together(copy_of(input, 1, random, moved),
                                    independent_train(random, 20 * (1 - share), 200));
                };
                const spike_sequence spikes = sequence({{"a", unit()}, {"b", unit()}});
                EXPECT_EQ(repeating(find_shared_spikes(spikes)), 0U)
                    << seed << ' ' << share << ' ' << jitter_us;
            }
        }
    }
}

TEST(SharedSpikes, LetsATightButVariableLagPass) {
    generator random(1);
    std::normal_distribution<double> jitter(0, 130);
    const train input = independent_train(random, 10, 300);
    const train follower =
        copy_of(input, 0.95, random, [&] { return std::llround(jitter(random)); });

    const auto pairs = find_shared_spikes(sequence({{"a", input}, {"b", follower}}));

    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_GT(pairs[0].share, 0.8);
    EXPECT_GT(pairs[0].spread, pairs[0].window / 2);
    EXPECT_FALSE(pairs[0].repeats);
}

TEST(SharedSpikes, TakesNoFastUnitForACopy) {
    generator random(2);
    std::uniform_int_distribution<std::int64_t> anywhere(0, 100'000'000);
    train fast;
    for (int i = 0; i < 200'000; ++i) fast.push_back(anywhere(random));
    const auto pairs =
        find_shared_spikes(sequence({{"fast", fast}, {"slow", independent_train(random, 5, 100)}}));
    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_LT(pairs[0].share, 0.2);
    EXPECT_FALSE(pairs[0].repeats);
}

TEST(SharedSpikes, SeesAnExactCopyThatIsAlone) {
    generator random(3);
    const train original = independent_train(random, 3, 60);
    const spike_sequence spikes = sequence({{"a", original}, {"b", original}});

    const auto pairs = find_shared_spikes(spikes);

    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_TRUE(pairs[0].repeats);
    EXPECT_EQ(pairs[0].fewer, spikes.unit("b"));
    EXPECT_EQ(pairs[0].shared, original.size());
}

TEST(SharedSpikes, LeavesAClockOfAThirtiethOfASecondAlone) {
    generator random(4);
    train coarse;
    for (const std::int64_t at : independent_train(random, 5, 200))
        coarse.push_back((at / 33'333) * 100'000 / 3);
    EXPECT_TRUE(find_shared_spikes(sequence({{"a", coarse}, {"b", coarse}})).empty());
}

TEST(SharedSpikes, RefusesAWindowWithoutFlank) {
    const auto find = [](const shared_spike_options& options) {
        static_cast<void>(find_shared_spikes({}, options));
    };
    EXPECT_SAYS(text_of([&] { find({.window = duration{300}, .flank = duration{300}}); }),
                "0 < window < flank");
    EXPECT_SAYS(text_of([&] { find({.min_share = 0}); }), "a share above 0");
}

TEST(DropDuplicatesOfUnits, KeepsTheLargestOfThoseThatRepeatEachOther) {
    generator random(5);
    const train original = independent_train(random, 10, 100);
    const auto none = [] { return 0; };
    const train most = copy_of(original, 0.9, random, none);
    const train other = independent_train(random, 10, 100);
    const spike_sequence spikes = sequence({{"a", copy_of(most, 0.9, random, none)},
                                            {"b", most},
                                            {"c", original},
                                            {"d", other},
                                            {"e", original}});

    const units_without_duplicates kept =
        drop_duplicates_of_units(spikes, find_shared_spikes(spikes));

    EXPECT_EQ(kept.spikes, select_units(spikes, std::vector<std::string>{"c", "d"}));
    ASSERT_EQ(kept.dropped.size(), 3U);
    EXPECT_EQ(kept.dropped[0].name, "a");
    EXPECT_EQ(kept.dropped[2],
              (dropped_unit{"e", original.size(), "c", original.size(), duration{300}}));
    EXPECT_SAYS(warnings_of(kept.dropped)[1], "Unit b with ");
    EXPECT_EQ(drop_duplicates_of_units(kept.spikes, find_shared_spikes(kept.spikes)).spikes,
              kept.spikes);
}

TEST(DropDuplicatesOfUnits, KeepsBothUnitsThatAThirdOneRepeats) {
    generator random(6);
    const train first = independent_train(random, 10, 100);
    const train second = independent_train(random, 10, 100);
    const std::size_t half = first.size() / 3;
    train mixed(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(half));
    mixed.insert(mixed.end(), second.begin(), second.begin() + static_cast<std::ptrdiff_t>(half));
    const spike_sequence spikes = sequence({{"a", first}, {"b", second}, {"c", mixed}});

    const auto pairs = find_shared_spikes(spikes, {.min_share = 0.4});

    ASSERT_EQ(repeating(pairs), 2U);
    EXPECT_EQ(drop_duplicates_of_units(spikes, pairs).spikes.unit_names(),
              (std::vector<std::string>{"a", "b"}));
}

TEST(SharedSpikes, FindsTheCopiesInAPublishedRecording) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("hippocampus_w-maze.tsv.gz");
    const spike_sequence spikes = read_spikes(shared_data("hippocampus_w-maze.tsv.gz")).spikes;

    const auto pairs = find_shared_spikes(spikes);

    ASSERT_FALSE(pairs.empty());
    EXPECT_EQ(spikes.name(pairs[0].fewer), "20");
    EXPECT_EQ(spikes.name(pairs[0].more), "15");
    EXPECT_EQ(pairs[0].shared, 2'171U);
    EXPECT_EQ(pairs[0].fewer_spikes, 2'179U);
    EXPECT_TRUE(pairs[0].repeats);
    EXPECT_EQ(pairs[0].spread, duration{0});
    const auto kept =
        read_spikes(shared_data("hippocampus_w-maze.tsv.gz"), {.drop_duplicates_of_units = true});
    EXPECT_EQ(repeating(find_shared_spikes(kept.spikes)), 0U);
    EXPECT_EQ(kept.spikes.unit_count() + kept.dropped.size(), spikes.unit_count());
}

// The definition, spike by spike.
struct by_definition {
    std::vector<train> trains{};
    train all{};
    shared_spike_options options{};

    std::size_t within(const train& of, std::int64_t from, std::int64_t to) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(of, [&](std::int64_t at) { return at >= from && at <= to; }));
    }

    bool crowded(std::int64_t at) const {
        const std::int64_t w = options.window.count();
        return within(all, at - w, at + w) > std::max<std::size_t>(8, trains.size() / 4);
    }

    shared_spike_pair compare(std::size_t a, std::size_t b) const {
        if (trains[a].size() < trains[b].size() || (trains[a].size() == trains[b].size() && a > b))
            std::swap(a, b);  // a has more
        const std::int64_t w = options.window.count();
        const std::int64_t f = options.flank.count();
        const std::int64_t n = std::min(w + 700, f);
        shared_spike_pair out{.fewer = unit_id{static_cast<std::uint32_t>(b)},
                              .more = unit_id{static_cast<std::uint32_t>(a)},
                              .window = options.window,
                              .fewer_spikes = trains[b].size(),
                              .more_spikes = trains[a].size()};
        double left = 0;
        double right = 0;
        double wide = 0;
        train lags;
        for (const std::int64_t at : trains[b]) {
            left += static_cast<double>(within(trains[a], at - n, at - w - 1));
            right += static_cast<double>(within(trains[a], at + w + 1, at + n));
            wide += static_cast<double>(within(trains[a], at - f, at - w - 1) +
                                        within(trains[a], at + w + 1, at + f));
            std::int64_t nearest = w + 1;
            for (const std::int64_t other : trains[a])
                if (std::abs(other - at) < std::abs(nearest)) nearest = other - at;
            if (std::abs(nearest) <= w && !crowded(at)) lags.push_back(nearest);
        }
        std::ranges::sort(lags);
        const auto spikes = static_cast<double>(trains[b].size());
        const double density =
            std::max({left / static_cast<double>(n - w), right / static_cast<double>(n - w),
                      wide / static_cast<double>(2 * (f - w))}) /
            spikes;
        const double chance = 1 - std::exp(-density * static_cast<double>(2 * w + 1));
        out.shared = lags.size();
        out.by_chance = chance * spikes;
        out.share =
            std::max(0., (static_cast<double>(lags.size()) / spikes - chance) / (1 - chance));
        if (lags.empty()) return out;
        out.lag = duration{lags[lags.size() / 2]};
        std::int64_t spread = 2 * w + 1;
        for (std::size_t i = 0; i + (lags.size() + 1) / 2 <= lags.size(); ++i)
            spread = std::min(spread, lags[i + (lags.size() + 1) / 2 - 1] - lags[i]);
        out.spread = duration{spread};
        out.repeats =
            chance < 0.5 && out.share >= options.min_share && out.spread <= options.max_spread;
        return out;
    }

    std::vector<shared_spike_pair> pairs() const {
        std::vector<shared_spike_pair> out;
        for (std::size_t a = 0; a < trains.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                const shared_spike_pair pair = compare(a, b);
                const double of = static_cast<double>(pair.fewer_spikes);
                if (pair.shared >= options.min_spikes &&
                    static_cast<double>(pair.shared) >= options.min_share * of)
                    out.push_back(pair);
            }
        return out;
    }
};

TEST(SharedSpikes, AgreesWithItsDefinition) {
    std::size_t repeated = 0;
    for (std::uint64_t seed = 0; seed < (is_shortened_run() ? 4U : 15U); ++seed) {
        generator random(seed);
        std::uniform_int_distribution<std::int64_t> step(-3, 3);
        std::uniform_real_distribution<double> share(0.1, 1);
        by_definition expected{
            .options = {.min_share = 0.2 + 0.1 * static_cast<double>(seed % 4), .min_spikes = 5}};
        std::vector<std::pair<std::string, train>> named;
        for (int u = 0; u < 12; ++u) {
            train one = independent_train(random, u % 4 == 0 ? 60 : 10, 5);
            if (u > 2 && u % 2 == 0)
                one = together(copy_of(named[static_cast<std::size_t>(u) - 2].second, share(random),
                                       random, [&] { return sample_us * step(random); }),
                               copy_of(one, share(random), random, [] { return 0; }));
            for (std::int64_t burst = 0; burst < 5; ++burst)  // artefacts
                one.push_back(900'000 * (burst + 1) + 20 * u);
            std::ranges::sort(one);
            one.erase(std::unique(one.begin(), one.end()), one.end());
            named.emplace_back("u" + std::to_string(u), one);
            expected.trains.push_back(one);
            expected.all = together(expected.all, one);
        }

        const auto found = find_shared_spikes(sequence(named), expected.options);
        auto wanted = expected.pairs();

        ASSERT_EQ(found.size(), wanted.size()) << seed;
        EXPECT_TRUE(std::ranges::is_sorted(found, std::greater<>{}, &shared_spike_pair::share));
        repeated += repeating(found);
        for (const shared_spike_pair& pair : found) {
            const auto same = std::ranges::find_if(wanted, [&](const shared_spike_pair& one) {
                return one.fewer == pair.fewer && one.more == pair.more;
            });
            ASSERT_NE(same, wanted.end());
            EXPECT_NEAR(pair.by_chance, same->by_chance, 1e-9);
            EXPECT_NEAR(pair.share, same->share, 1e-12);
            same->by_chance = pair.by_chance;
            same->share = pair.share;
            EXPECT_EQ(pair, *same) << seed;
        }
    }
    EXPECT_GT(repeated, 10U);
}

}  // namespace
}  // namespace spikeweave
