#include "spikeweave/assess/change_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using series_of_samples = std::vector<std::vector<double>>;

series_of_samples noise(std::size_t width, std::size_t samples, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::poisson_distribution<int> counts(20);
    series_of_samples out(width, std::vector<double>(samples));
    for (std::vector<double>& one : out)
        for (double& value : one) value = counts(random);
    return out;
}

void add_step(std::vector<double>& series, std::size_t from, double by) {
    for (std::size_t s = from; s < series.size(); ++s) series[s] += by;
}

double mean_of(const std::vector<double>& values, std::size_t from, std::size_t to) {
    return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                           values.begin() + static_cast<std::ptrdiff_t>(to), 0.0) /
           static_cast<double>(to - from);
}

// The scaled divergence of Matteson and James with the exponent 2, from its definition: mean
// squared distances between both sides and within each.
double divergence(const series_of_samples& series, std::size_t at) {
    const std::size_t n = series[0].size();
    const auto distances = [&](std::size_t from, std::size_t to, std::size_t other_from,
                               std::size_t other_to) {
        double sum = 0;
        for (std::size_t i = from; i < to; ++i)
            for (std::size_t j = other_from; j < other_to; ++j)
                for (const std::vector<double>& one : series) sum += std::pow(one[i] - one[j], 2);
        return sum / static_cast<double>((to - from) * (other_to - other_from));
    };
    const auto first = static_cast<double>(at);
    const auto second = static_cast<double>(n - at);
    const double within = distances(0, at, 0, at) + distances(at, n, at, n);
    return first * second / (first + second) * (2 * distances(0, at, at, n) - within);
}

series_of_samples standardised(series_of_samples series) {
    for (std::vector<double>& one : series) {
        const double mean = mean_of(one, 0, one.size());
        double squares = 0;
        for (const double value : one) squares += (value - mean) * (value - mean);
        for (double& value : one)
            value = (value - mean) / std::sqrt(squares / static_cast<double>(one.size()));
    }
    return series;
}

std::size_t best_by_definition(const series_of_samples& series) {
    const series_of_samples same_scale = standardised(series);
    std::size_t best = least_samples_of_a_state;
    for (std::size_t at = best; at + least_samples_of_a_state <= series[0].size(); ++at)
        if (divergence(same_scale, at) > divergence(same_scale, best) * (1 + 1e-9)) best = at;
    return best;
}

TEST(ChangePoints, TheClearestIsThatOfTheLargestDivergence) {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        const series_of_samples series = noise(1 + seed % 4, 5 + seed % 13, seed);
        const change_points found = find_change_points(series, {.permutations = 1, .alpha = 0.01});
        ASSERT_TRUE(found.next);
        EXPECT_EQ(found.next->at, best_by_definition(series)) << seed;
    }
}

// All orders of six samples; the random ones are a part of them.
TEST(ChangePoints, PIsTheShareOfOrders) {
    series_of_samples series{{3, 4, 3, 9, 8, 9}};
    const double observed = divergence(standardised(series), 3);
    std::sort(series[0].begin(), series[0].end());
    double reached = 0;
    double all = 0;
    do {
        const series_of_samples one = standardised(series);
        reached += divergence(one, best_by_definition(one)) >= observed * (1 - 1e-9) ? 1 : 0;
        ++all;
    } while (std::next_permutation(series[0].begin(), series[0].end()));
    // Equal values are exchanged in the random orders, too, so that each arrangement is as likely.
    const auto found = likeliest_changes({{{3, 4, 3, 9, 8, 9}}}, {.permutations = 20'000});

    ASSERT_TRUE(found[0]);
    EXPECT_EQ(found[0]->at, 3U);
    EXPECT_NEAR(found[0]->p, reached / all, 0.012);
}

TEST(ChangePoints, FindsStatesOneAfterAnother) {
    series_of_samples series = noise(3, 40, 7);
    add_step(series[0], 12, 20);
    add_step(series[2], 30, -18);

    const change_points found = find_change_points(series);

    ASSERT_EQ(found.found.size(), 2U);
    std::vector<std::size_t> places{found.found[0].at, found.found[1].at};
    std::ranges::sort(places);
    EXPECT_EQ(places, (std::vector<std::size_t>{12, 30}));
    ASSERT_TRUE(found.next);
    EXPECT_GE(found.next->p, 0.05);
}

// Binomial with 400 series and a probability of 0.05: 20, with a standard deviation of 4.4.
TEST(ChangePoints, KeepTheLevelInEqualSamples) {
    std::size_t together = 0;
    for (std::uint32_t seed = 0; seed < 400; ++seed)
        together += find_change_points(noise(5, 16, seed), {.permutations = 199, .seed = seed})
                            .found.empty()
                        ? 0
                        : 1;
    EXPECT_LE(together, 34U);
    EXPECT_GE(together, 7U);
}

TEST(ChangePoints, DoNotDependOnThreadsUnitsOrConstantSeries) {
    series_of_samples series = noise(4, 20, 3);
    add_step(series[1], 8, 6);
    const change_points found = find_change_points(series, {}, {.threads = 1});
    series_of_samples scaled = series;
    for (double& value : scaled[1]) value = 1000 * value + 5;
    scaled.push_back(std::vector<double>(20, 4));

    for (const auto& other : {find_change_points(series, {}, {.threads = 3}),
                              find_change_points(scaled, {}, {.threads = 1})}) {
        ASSERT_EQ(other.found.size(), found.found.size());
        for (std::size_t i = 0; i < found.found.size(); ++i) {
            EXPECT_EQ(other.found[i].at, found.found[i].at);
            EXPECT_EQ(other.found[i].p, found.found[i].p);
        }
    }
}

TEST(ChangePoints, NeedSamplesForTwoStates) {
    EXPECT_FALSE(find_change_points(noise(2, 3, 1)).next);
    EXPECT_TRUE(find_change_points(noise(2, 4, 1)).next);
    EXPECT_FALSE(find_change_points({}).next);
    EXPECT_FALSE(likeliest_changes(noise(2, 3, 1))[1]);
    EXPECT_EQ(likeliest_changes({{{5, 5, 5, 5, 5}}})[0]->p, 1);
}

TEST(ChangePoints, RefuseWhatIsNoSeries) {
    const double no_number = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(find_change_points({{{1, 2, 3, 4}, {1, 2, 3}}}), invalid_argument);
    EXPECT_THROW(find_change_points({{{1, 2, 3, no_number}}}), invalid_argument);
    EXPECT_THROW(find_change_points(noise(1, 9, 1), {.permutations = 0}), invalid_argument);
    EXPECT_THROW(find_change_points(noise(1, 9, 1), {.alpha = 0}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
