#include "spikeweave/sort/quality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spikeweave/core/error.hpp"
#include "support/spike_clouds.hpp"

namespace spikeweave {
namespace {

using rows = std::vector<std::vector<double>>;

rows inverse(rows a) {
    const std::size_t d = a.size();
    rows out(d, std::vector<double>(d));
    for (std::size_t i = 0; i < d; ++i) out[i][i] = 1;
    for (std::size_t i = 0; i < d; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i; r < d; ++r)
            if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
        std::swap(a[i], a[pivot]);
        std::swap(out[i], out[pivot]);
        const double by = a[i][i];
        for (std::size_t k = 0; k < d; ++k) {
            a[i][k] /= by;
            out[i][k] /= by;
        }
        for (std::size_t r = 0; r < d; ++r) {
            if (r == i) continue;
            const double times = a[r][i];
            for (std::size_t k = 0; k < d; ++k) {
                a[r][k] -= times * a[i][k];
                out[r][k] -= times * out[i][k];
            }
        }
    }
    return out;
}

// Computes the probability as a finite sum, for an even number of degrees of freedom.
double chi_squared_above(double x, std::size_t degrees) {
    double term = std::exp(-x / 2);
    double sum = 0;
    for (std::size_t i = 0; i < degrees / 2; ++i) {
        sum += term;
        term *= x / 2 / static_cast<double>(i + 1);
    }
    return sum;
}

struct isolation {
    double l_ratio = 0;
    double distance = 0;
};

// Implements the definitions directly, with the explicit inverse of the covariance.
isolation brute_force(const spike_features& features, const sorting& sorted, std::uint32_t unit,
                      const std::vector<std::uint32_t>& columns) {
    const std::size_t d = columns.size();
    std::vector<double> mean(d);
    double n = 0;
    const auto value = [&](std::size_t spike, std::size_t a) {
        return features.values(spike)[columns[a]];
    };
    for (std::size_t s = 0; s < features.size(); ++s) {
        if (sorted.labels[s] != unit) continue;
        ++n;
        for (std::size_t a = 0; a < d; ++a) mean[a] += value(s, a);
    }
    for (double& m : mean) m /= n;
    rows covariance(d, std::vector<double>(d));
    for (std::size_t s = 0; s < features.size(); ++s)
        for (std::size_t a = 0; a < d && sorted.labels[s] == unit; ++a)
            for (std::size_t b = 0; b < d; ++b)
                covariance[a][b] += (value(s, a) - mean[a]) * (value(s, b) - mean[b]) / (n - 1);
    const rows precision = inverse(covariance);
    isolation out;
    std::vector<double> others;
    for (std::size_t s = 0; s < features.size(); ++s) {
        if (sorted.labels[s] == unit) continue;
        double squared = 0;
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b < d; ++b)
                squared += (value(s, a) - mean[a]) * precision[a][b] * (value(s, b) - mean[b]);
        others.push_back(squared);
        out.l_ratio += chi_squared_above(squared, d) / n;
    }
    std::sort(others.begin(), others.end());
    out.distance = others.at(static_cast<std::size_t>(n) - 1);
    return out;
}

spike_features plain(std::size_t columns, const std::vector<double>& values,
                     const std::vector<double>& mask) {
    spike_masks masks;
    for (std::size_t n = 0; n < values.size() / columns; ++n) masks.append(mask);
    return {columns, values, masks};
}

TEST(UnitQuality, IsolationIsThatOfTheDefinitions) {
    const spike_cloud cloud =
        make_cloud({.spikes = 1500, .units = 5, .channels = 6, .per_channel = 2, .seed = 4});
    const sorting sorted{.labels = cloud.truth, .unit_count = 5};

    const auto quality = measure_quality(cloud.features, sorted);
    const auto columns = counting_features(cloud.features, sorted, 0.5);

    ASSERT_EQ(quality.size(), 5U);
    double worst = 0;
    for (std::size_t u = 0; u < 5; ++u) {
        ASSERT_EQ(columns[u].size() % 2, 0U);
        const isolation expected =
            brute_force(cloud.features, sorted, static_cast<std::uint32_t>(u + 1), columns[u]);
        EXPECT_EQ(quality[u].features, columns[u].size());
        EXPECT_NEAR(quality[u].l_ratio.value(), expected.l_ratio, 1e-10 * (1 + expected.l_ratio));
        EXPECT_NEAR(quality[u].isolation_distance.value(), expected.distance,
                    1e-9 * expected.distance);
        EXPECT_FALSE(quality[u].rate_hz || quality[u].contamination || quality[u].snr);
        worst = std::max(worst, expected.l_ratio);
    }
    EXPECT_GT(worst, 1e-6);  // otherwise every L-ratio could have been 0
}

TEST(UnitQuality, FeaturesCountWhereTheMasksAreLargeEnough) {
    // The mean masks of unit 1 are 0.5, 0.75, 0.25, 0; those of unit 2 are all below one half; unit
    // 3 is empty.
    const spike_features features(
        4, std::vector<double>(16),
        {{0, 2, 5, 6, 7}, {0, 1, 0, 1, 2, 2, 2}, {0.5, 1, 0.5, 0.5, 0.5, 0.4, 0.2}});
    const sorting sorted{.labels = {1, 1, 2, 2}, .unit_count = 3};

    const auto columns = counting_features(features, sorted, 0.5);

    EXPECT_EQ(columns[0], (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(columns[1], (std::vector<std::uint32_t>{2}));
    EXPECT_TRUE(columns[2].empty());
}

TEST(UnitQuality, IsEmptyWhereItCannotBeSaid) {
    const std::vector<double> mask{1, 1};
    const auto of = [&](const std::vector<double>& values, std::vector<std::uint32_t> labels) {
        return measure_quality(plain(2, values, mask),
                               {.labels = std::move(labels), .unit_count = 1})
            .front();
    };

    EXPECT_TRUE(of({0, 0, 1, 0, 0, 1, 5, 5, 6, 5, 5, 6}, {1, 1, 1, 0, 0, 0}).l_ratio);
    // As many spikes as features; a constant feature; two equal features.
    EXPECT_FALSE(of({0, 0, 1, 3, 5, 5, 6, 5, 5, 6, 7, 7}, {1, 1, 0, 0, 0, 0}).l_ratio);
    EXPECT_FALSE(of({0, 2, 1, 2, 3, 2, 5, 5, 6, 5, 5, 6}, {1, 1, 1, 0, 0, 0}).l_ratio);
    EXPECT_FALSE(of({0, 0, 1, 1, 3, 3, 5, 5, 6, 5, 5, 6}, {1, 1, 1, 0, 0, 0}).l_ratio);
    // Fewer other spikes than the unit has, and none.
    const unit_quality few = of({0, 0, 1, 0, 0, 1, 5, 5, 6, 5}, {1, 1, 1, 0, 0});
    EXPECT_TRUE(few.l_ratio);
    EXPECT_FALSE(few.isolation_distance);
    EXPECT_EQ(of({0, 0, 1, 0, 0, 1}, {1, 1, 1}).l_ratio, 0.0);
    // The distance is so large that it overflows.
    const unit_quality far =
        of({0, 0, 1, 0, 0, 1, 1e300, 1e300, 1e300, 0, 0, 1e300}, {1, 1, 1, 0, 0, 0});
    EXPECT_EQ(far.l_ratio, 0.0);
    EXPECT_FALSE(far.isolation_distance);
    // The unit has no spikes.
    EXPECT_EQ(measure_quality(plain(1, {1, 2}, {1}), {.labels = {0, 0}, .unit_count = 1}).front(),
              unit_quality{});
}

TEST(UnitQuality, CountsRefractoryViolations) {
    // At 10 kHz, 1.5 ms are 15 samples: of the intervals 10, 15, 14, 961 two are shorter, and the
    // pairs within are (0, 10) and (25, 39); 10 and 25 are just far enough apart.
    const sorting sorted{.labels = {1, 1, 1, 1, 1, 0},
                         .unit_count = 1,
                         .samples = {0, 10, 25, 39, 1000, 20},
                         .sample_rate = 10'000,
                         .sample_count = 20'000};
    const auto features = plain(1, {1, 2, 3, 4, 5, 6}, {1});

    const unit_quality one = measure_quality(features, sorted).front();

    EXPECT_DOUBLE_EQ(one.rate_hz.value(), 2.5);
    EXPECT_DOUBLE_EQ(one.refractory_violations.value(), 0.5);
    // 1 - 2 * 20000 / (25 * 15) is below 0: there are more violations than by chance.
    EXPECT_EQ(one.contamination, 1.0);
    const unit_quality shorter =
        measure_quality(features, sorted, {.refractory = std::chrono::microseconds{1000}}).front();
    EXPECT_EQ(shorter.refractory_violations, 0.0);
    EXPECT_EQ(shorter.contamination, 0.0);
}

TEST(UnitQuality, CountsPairsBeyondNeighbours) {
    // Three spikes within the period are three pairs but two intervals.
    const sorting sorted{.labels = {1, 1, 1},
                         .unit_count = 1,
                         .samples = {7, 0, 5},
                         .sample_rate = 1000,
                         .sample_count = 16};
    const unit_quality one = measure_quality(plain(1, {1, 2, 3}, {1}), sorted,
                                             {.refractory = std::chrono::milliseconds{10}})
                                 .front();

    EXPECT_EQ(one.refractory_violations, 1.0);
    EXPECT_NEAR(one.contamination.value(), 1 - std::sqrt(1 - 3 * 16.0 / 90), 1e-12);
}

// A refractory train is mixed with spikes of many other neurons.
TEST(UnitQuality, EstimatesTheShareOfOtherNeurons) {
    constexpr double rate_hz = 30'000;
    constexpr std::int64_t length = 3'600 * 30'000;
    for (const double share : {0.0, 0.1, 0.3}) {
        cloud_random random(3);
        const auto gap = [&](double per_second) {
            return static_cast<std::int64_t>(-std::log(1 - random.uniform()) * rate_hz /
                                             per_second);
        };
        sorting sorted{.unit_count = 1, .sample_rate = rate_hz, .sample_count = length};
        for (std::int64_t t = 0; (t += 90 + gap(20 * (1 - share))) < length;)
            sorted.samples.push_back(t);
        if (share > 0)
            for (std::int64_t t = 0; (t += gap(20 * share)) < length;) sorted.samples.push_back(t);
        const std::size_t n = sorted.samples.size();
        sorted.labels.assign(n, 1);

        const unit_quality one =
            measure_quality(plain(1, std::vector<double>(n), {1}), sorted).front();

        EXPECT_NEAR(one.contamination.value(), share, 0.02) << share;
    }
}

TEST(UnitQuality, IsTheSameOnAnyNumberOfThreads) {
    const spike_cloud cloud = make_cloud({.spikes = 3000, .units = 7, .seed = 2});
    sorting sorted{.labels = cloud.truth, .unit_count = 7, .sample_rate = 1000};
    sorted.samples.resize(sorted.labels.size());
    std::iota(sorted.samples.begin(), sorted.samples.end(), 0);

    EXPECT_EQ(measure_quality(cloud.features, sorted, {}, {.threads = 1}),
              measure_quality(cloud.features, sorted, {}, {.threads = 8}));
}

TEST(UnitQuality, RefusesPartsThatDoNotBelongTogether) {
    const auto features = plain(1, {1, 2}, {1});
    const auto refused = [&](const sorting& sorted, const quality_options& options = {}) {
        EXPECT_THROW(measure_quality(features, sorted, options), invalid_argument);
    };
    refused({.labels = {1}, .unit_count = 1});
    refused({.labels = {1, 2}, .unit_count = 1});
    refused({.labels = {1, 1}, .unit_count = 1, .samples = {1}});
    refused({.labels = {1, 1}, .unit_count = 1}, {.refractory = duration{0}});
    refused({.labels = {1, 1}, .unit_count = 1}, {.least_mask = 0});
    refused({.labels = {1, 1}, .unit_count = 1}, {.least_mask = 1.5});
}

}  // namespace
}  // namespace spikeweave
