#include "assess/episodes/jitter_null.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "assess/episodes/count_distribution.hpp"
#include "assess/episodes/start_windows.hpp"
#include "assess/episodes/turned_cells.hpp"
#include "spikeweave/core/random.hpp"
#include "support/run_length.hpp"

namespace spikeweave {

using assess::completion;
using assess::count_distribution;
using assess::find_start_windows;
using assess::jitter_null;
using assess::keep_after;
using assess::start_window;
using assess::those_after;
using assess::turned_starts;

namespace {

using namespace std::chrono_literals;

random_stream stream(std::uint32_t seed) {
    return {seed, random_purpose::poisson_spikes, 77};
}

// Computes P(sum = c) for every c by adding one count after the other.
std::vector<double> exact_probabilities(const std::vector<std::vector<double>>& counts) {
    std::vector<double> of{1};
    for (const std::vector<double>& one : counts) {
        double none = 1;
        for (const double p : one) none -= p;
        std::vector<double> next(of.size() + one.size());
        for (std::size_t s = 0; s < of.size(); ++s) {
            next[s] += of[s] * none;
            for (std::size_t j = 0; j < one.size(); ++j) next[s + j + 1] += of[s] * one[j];
        }
        of = std::move(next);
    }
    return of;
}

// P(sum >= c)
std::vector<double> exact_tails(const std::vector<std::vector<double>>& counts) {
    std::vector<double> of = exact_probabilities(counts);
    for (std::size_t s = of.size() - 1; s-- > 0;) of[s] += of[s + 1];
    return of;
}

TEST(CountDistribution, HasTheTailsOfAConvolution) {
    for (std::uint32_t seed = 0; seed < (is_shortened_run() ? 6U : 60U); ++seed) {
        random_stream random = stream(seed);
        // The cases range from a few rare counts to thousands of common ones, with one spike or
        // several.
        const auto n = static_cast<std::size_t>(std::pow(10, 1 + 2.5 * random.uniform()));
        const double scale = std::pow(10, -2.5 * random.uniform());
        const std::size_t most = 1 + random.below(3);
        std::vector<std::vector<double>> counts(n);
        count_distribution out;
        for (std::vector<double>& one : counts) {
            one.resize(1 + random.below(most));
            for (double& p : one) p = scale * random.uniform() / static_cast<double>(one.size());
            out.add(one);
        }
        const std::vector<double> exact = exact_tails(counts);
        for (std::size_t c = 0; c < exact.size(); ++c) {
            if (exact[c] < 1e-12 || exact[c] > 0.3) continue;
            const double p = out.tail_probability(c);
            ASSERT_GE(p, 0.97 * exact[c]) << "seed " << seed << ", c " << c;
            // Pools are wider than the counts they replace, which shows far in the tail.
            ASSERT_LE(p, 4 * exact[c] + 1e-14) << "seed " << seed << ", c " << c;
        }
    }
}

TEST(CountDistribution, KnowsItsEnds) {
    count_distribution out;
    EXPECT_EQ(out.tail_probability(0), 1);
    EXPECT_EQ(out.tail_probability(1), 0);
    out.add(1.0);
    EXPECT_EQ(out.tail_probability(1), 1);
    EXPECT_EQ(out.tail_probability(2), 0);
    out.add(0.01);
    EXPECT_NEAR(out.tail_probability(2), 0.01, 1e-6);
    EXPECT_NEAR(out.mean(), 1.01, 1e-12);
}

// The definition, spike by spike.
std::optional<std::int64_t> earliest_end(std::int64_t start,
                                         const std::vector<std::int64_t>& targets,
                                         const delay_interval& delay) {
    for (const std::int64_t t : targets)
        if (t - start > delay.low.count() && t - start <= delay.high.count()) return t;
    return std::nullopt;
}

std::vector<std::int64_t> random_times(random_stream& random, std::int64_t begin, std::int64_t end,
                                       std::uint64_t one_in) {
    std::vector<std::int64_t> out;
    for (std::int64_t t = begin; t < end; ++t)
        if (random.below(one_in) == 0) out.push_back(t);
    return out;
}

TEST(StartWindows, AreTheTimesThatAreFollowed) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        random_stream random = stream(seed);
        const auto targets = random_times(random, 0, 60, 1 + random.below(9));
        const auto before = random_times(random, 0, 60, 1 + random.below(9));
        const std::int64_t low = static_cast<std::int64_t>(random.below(6));
        const delay_interval delay{duration{low},
                                   duration{low + 1 + static_cast<std::int64_t>(random.below(6))}};
        std::vector<completion> rest;
        for (const std::int64_t t : targets) rest.push_back({t, t});
        std::vector<start_window> windows;
        find_start_windows(rest, delay, windows);
        std::vector<start_window> after = windows;
        keep_after(before, delay, after);
        const auto window_of = [](const std::vector<start_window>& in, std::int64_t t) {
            const start_window* found = nullptr;
            for (const start_window& one : in)
                if (one.begin <= t && t < one.end) {
                    EXPECT_EQ(found, nullptr) << "two windows hold " << t;
                    found = &one;
                }
            return found;
        };
        for (std::int64_t t = -20; t < 80; ++t) {
            const auto end = earliest_end(t, targets, delay);
            const start_window* const window = window_of(windows, t);
            ASSERT_EQ(window != nullptr, end.has_value()) << seed << " " << t;
            if (end) {
                ASSERT_EQ(window->until, *end);
            }
            const bool follows = std::any_of(before.begin(), before.end(), [&](std::int64_t b) {
                return t - b > delay.low.count() && t - b <= delay.high.count();
            });
            ASSERT_EQ(window_of(after, t) != nullptr, end && follows) << seed << " " << t;
            const std::int64_t one[] = {t};
            ASSERT_EQ(!those_after(before, delay, one).empty(), follows);
        }
    }
}

// The largest number of non-overlapping starts: earliest end first.
std::size_t starts_of(std::vector<std::int64_t> spikes, const std::vector<std::int64_t>& targets,
                      const delay_interval& delay) {
    std::sort(spikes.begin(), spikes.end());
    std::int64_t over = -1000;
    std::size_t n = 0;
    for (const std::int64_t t : spikes)
        if (const auto end = earliest_end(t, targets, delay); end && t > over) {
            ++n;
            over = *end;
        }
    return n;
}

// Up to three intervals, with gaps or without.
std::vector<time_span> random_intervals(random_stream& random, std::int64_t last) {
    std::vector<std::int64_t> ends = random_times(random, 0, last + 1, 1 + random.below(5));
    if (ends.size() % 2 == 1) ends.push_back(last + 1);
    std::vector<time_span> out;
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2)
        out.push_back({duration{ends[i]}, duration{ends[i + 1] - 1}});
    return out;
}

TEST(TurnedStarts, HaveTheMeanOfAllTurnsInEachIntervalOfTime) {
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        random_stream random = stream(seed);
        const std::int64_t width = 7 + static_cast<std::int64_t>(random.below(20));
        const std::int64_t last = 50 + static_cast<std::int64_t>(random.below(30));
        std::vector<time_span> observed{{0us, duration{last}}};
        if (seed % 2 == 1) observed = random_intervals(random, last);
        auto spikes = random_times(random, 0, last + 1, 1 + random.below(12));
        std::erase_if(spikes, [&](std::int64_t t) {
            return std::ranges::none_of(observed, [&](const time_span& one) {
                return one.begin.count() <= t && t <= one.end.count();
            });
        });
        const auto targets = random_times(random, 0, last + 1, 1 + random.below(12));
        const delay_interval delay{duration{static_cast<std::int64_t>(random.below(3))}, 5us};
        std::vector<completion> rest;
        for (const std::int64_t t : targets) rest.push_back({t, t});
        std::vector<start_window> windows;
        find_start_windows(rest, delay, windows);

        const auto [turned, as_recorded] = turned_starts(spikes, windows, {observed, width}, 1);

        double mean = 0;
        std::size_t unturned = 0;
        for (const time_span& one : observed)
            for (std::int64_t begin = one.begin.count(); begin <= one.end.count(); begin += width) {
                const std::int64_t length = std::min(width, one.end.count() + 1 - begin);
                for (std::int64_t turn = 0; turn < length; ++turn) {
                    std::vector<std::int64_t> in_cell;
                    for (const std::int64_t t : spikes)
                        if (t >= begin && t < begin + length)
                            in_cell.push_back(begin + (t - begin + turn) % length);
                    if (turn == 0) unturned += starts_of(in_cell, targets, delay);
                    mean += static_cast<double>(starts_of(in_cell, targets, delay)) /
                            static_cast<double>(length);
                }
            }
        ASSERT_NEAR(turned.mean(), mean, 1e-9) << "seed " << seed;
        ASSERT_EQ(as_recorded, unturned) << "seed " << seed;
    }
}

spike_sequence three_units(random_stream& random, std::uint64_t last) {
    constexpr int spikes = 50;
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::uint32_t u = 0; u < 3; ++u)
        for (int i = 0; i < spikes; ++i)
            all.emplace_back(static_cast<std::int64_t>(random.below(last)), unit_id{u});
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return sequence_of(std::move(all), {"a", "b", "c"},
                       {0us, duration{static_cast<std::int64_t>(last)}});
}

// p is that of the unit that explains the count best, so it is at least the p of every unit.
TEST(JitterNull, GivesIndependentUnitsSmallValuesNoMoreOftenThanTheyAre) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    constexpr int runs = 2000;
    int below = 0;
    int below_in_threes = 0;
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        random_stream random = stream(seed);
        const spike_sequence spikes = three_units(random, 200'000);
        const jitter_null null(spikes, 20ms, tie_rule::time);
        const episode pair{{unit_id{0}, unit_id{1}}, {{0ms, 1ms}}};
        const episode three{{unit_id{0}, unit_id{1}, unit_id{2}}, {{0ms, 1ms}, {0ms, 1ms}}};
        below += null.test(pair, 1).p < 0.05 ? 1 : 0;
        below_in_threes += null.test(three, 1).p < 0.05 ? 1 : 0;
    }
    // 5 % plus three standard errors.
    EXPECT_LE(below, runs * 0.065);
    EXPECT_LE(below_in_threes, runs * 0.065);
    EXPECT_GT(below, runs * 0.003);
}

}  // namespace
}  // namespace spikeweave
