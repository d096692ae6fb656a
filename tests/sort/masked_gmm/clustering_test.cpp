#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "sort/masked_gmm/sparse_data.hpp"
#include "sort/masked_gmm/split_start.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/files.hpp"
#include "support/spike_clouds.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using masked_gmm::partition;
using masked_gmm::sparse_data;

void expect_row(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

// The spikes and the expected results are those of klustakwik2's tests.
TEST(MaskedGmm, ReplacesWhatIsMaskedByNoise) {
    const temporary_folder folder;
    folder.file("a.fmask.1", "5\n1 0.5 0 0 0\n0 1 1 0 0\n0 1 1 0 0\n0 0 0 1 1\n");
    const spike_features four =
        read_features(
            folder.file("a.fet.1", "5\n1 3 5 7 11\n6 7 8 9 10\n11 12 13 14 15\n16 17 18 19 20\n"))
            .features;
    const sparse_data data(four, masked_gmm::group_rules{.looked_at = 8}, {.threads = 1});

    const std::vector<double> nu{2.0 / 3, 1, 0.5, 0.25, 0.2};
    const std::vector<double> variance{2.0 / 27, 0, 0.25, 13.0 / 216, 0.7 / 15};
    expect_row(data.noise.mean, nu);
    expect_row(data.noise.variance, variance);
    EXPECT_EQ(data.floored, 1U);
    EXPECT_EQ(data.noise.variance[1], masked_gmm::least_variance);
    const std::vector<std::vector<double>> y{{0, 0.5, 0.5, 0.25, 0.2},
                                             {2.0 / 3, 2.0 / 7, 3.0 / 13, 0.25, 0.2},
                                             {2.0 / 3, 4.5 / 7, 8.0 / 13, 0.25, 0.2},
                                             {2.0 / 3, 1, 0.5, 1, 1}};
    const std::vector<std::vector<double>> eta{{0, 0.25, 0.25, 13.0 / 216, 0.7 / 15},
                                               {2.0 / 27, 0, 0, 13.0 / 216, 0.7 / 15},
                                               {2.0 / 27, 0, 0, 13.0 / 216, 0.7 / 15},
                                               {2.0 / 27, 0, 0.25, 0, 0}};
    for (std::size_t n = 0; n < 4; ++n) {
        std::vector<double> own_y = data.noise.mean;
        std::vector<double> own_eta = data.noise.variance;
        for (std::size_t a = 0; a < data.columns(n).size(); ++a) {
            own_y[data.columns(n)[a]] += data.deltas(n)[a];
            own_eta[data.columns(n)[a]] += data.etas(n)[a];
        }
        expect_row(own_y, y[n]);
        expect_row(own_eta, eta[n]);
    }
    EXPECT_EQ(data.cost, (std::vector<double>{4.375, 6, 6, 6}));
}

TEST(MaskedGmm, StartsWithTheMostFrequentMasks) {
    spike_masks masks;
    for (const auto& row : std::vector<std::vector<double>>{
             {0, 0, 1, 1}, {1, 1, 0, 0}, {0, 0, 1, 0.5}, {1, 0, 0, 0}, {0, 1, 1, 1}, {1, 1, 0, 0}})
        masks.append(row);
    const spike_features features(4, std::vector<double>(24), masks);

    EXPECT_EQ(masked_gmm::start_by_masks(features, 500).labels,
              (std::vector<std::uint32_t>{1, 2, 1, 3, 4, 2}));
    const partition two = masked_gmm::start_by_masks(features, 2);
    EXPECT_EQ(two.labels, (std::vector<std::uint32_t>{1, 2, 1, 2, 1, 2}));
    EXPECT_EQ(two.clusters, 3U);
}

TEST(MaskedGmm, StartsFromGivenClustersWhateverTheirNumbers) {
    const partition start = masked_gmm::start_from({7, 0, 3, 7}, 4);
    EXPECT_EQ(start.labels, (std::vector<std::uint32_t>{2, 0, 1, 2}));
    EXPECT_EQ(start.clusters, 3U);
    EXPECT_THROW(masked_gmm::start_from({1, 2}, 3), invalid_argument);
}

TEST(MaskedGmm, RefusesOptionsThatCannotBe) {
    const spike_features features = make_cloud({.spikes = 20}).features;
    const std::vector<masked_gmm_options> wrong{{.max_clusters = 0},
                                                {.max_iterations = 0},
                                                {.prior_point = 0},
                                                {.prior_point = NAN},
                                                {.noise_point = -1},
                                                {.penalty_k = INFINITY},
                                                {.points_for_cluster_mask = 0},
                                                {.start = {1, 2}}};
    for (std::size_t i = 0; i < wrong.size(); ++i)
        EXPECT_THROW(sort_spikes(features, wrong[i]), invalid_argument) << i;
    EXPECT_THROW(sort_spikes({}, {}), invalid_argument);
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_THROW(sort_spikes(features, {}, {.stop = stopped.get_token()}), cancelled);
}

TEST(MaskedGmm, GivesEverySpikeALabelWithoutGaps) {
    const clustering_result found = sort_spikes(make_cloud({.spikes = 500}).features);
    ASSERT_EQ(found.labels.size(), 500U);
    std::set<std::uint32_t> labels(found.labels.begin(), found.labels.end());
    labels.erase(0);
    EXPECT_EQ(labels.size(), found.units);
    EXPECT_EQ(*labels.rbegin(), found.units);
    EXPECT_NEAR(found.seed_score(), 2 * found.score() - std::log(500.0), 1e-9);
}

TEST(MaskedGmm, MakesNoMoreClustersThanItMay) {
    const spike_features features = make_cloud({.spikes = 1000, .units = 8}).features;
    const masked_gmm_options few{
        .starting_clusters = 1, .max_clusters = 3, .split_first = 1, .split_every = 1};
    masked_gmm_options many = few;
    many.max_clusters = 100;
    EXPECT_EQ(sort_spikes(features, few).units, 3U);
    EXPECT_GT(sort_spikes(features, many).units, 3U);
    many.splits = false;
    EXPECT_EQ(sort_spikes(features, many).units, 1U);
}

TEST(MaskedGmm, KeepsClustersThatItMayNotGiveUp) {
    const spike_features features = make_cloud({.spikes = 1000, .units = 3}).features;
    const masked_gmm_options kept{
        .starting_clusters = 40, .deletions = cluster_deletions::none, .splits = false};
    masked_gmm_options given_up = kept;
    given_up.deletions = cluster_deletions::one;
    const clustering_result all = sort_spikes(features, kept);
    for (const masked_gmm_iteration& one : all.iterations) EXPECT_EQ(one.deleted, 0U);
    EXPECT_GT(all.units, sort_spikes(features, given_up).units);
}

// It takes fewer iterations, and the score is never worse than with single deletions at that
// iteration.
TEST(MaskedGmm, GivesUpManyClustersAtOnceWhenAsked) {
    const spike_features features = make_cloud({.spikes = 2000, .units = 6, .seed = 3}).features;
    masked_gmm_options options{.splits = false};
    const clustering_result one = sort_spikes(features, options);
    options.deletions = cluster_deletions::all;
    const clustering_result many = sort_spikes(features, options);

    std::uint32_t most = 0;
    for (const masked_gmm_iteration& step : many.iterations) most = std::max(most, step.deleted);
    for (const masked_gmm_iteration& step : one.iterations) EXPECT_LE(step.deleted, 1U);
    EXPECT_GT(most, 1U);
    EXPECT_LT(many.iterations.size(), one.iterations.size());
    // Both start from the same labels.
    EXPECT_LE(many.iterations.front().score(), one.iterations.front().score());
    EXPECT_GT(adjusted_rand(many.labels, one.labels), 0.95);
}

// A cluster contains two units that differ in the sign of one feature: the halves are the units.
TEST(MaskedGmm, SplitsBeginAlongTheLargestVariance) {
    cloud_random random(8);
    std::vector<double> values;
    spike_masks masks;
    std::vector<std::uint8_t> truth;
    for (int n = 0; n < 200; ++n) {
        truth.push_back(n % 3 == 0 ? 1 : 0);
        const bool noise = n % 10 == 9;
        const double side = noise ? 0 : truth.back() == 1 ? 6 : -6;
        values.insert(values.end(), {random.normal() + (noise ? 0 : 20), random.normal() + side,
                                     random.normal()});
        masks.append(noise ? std::vector<double>{0, 0, 0} : std::vector<double>{1, 1, 0});
    }
    const spike_features features(3, values, masks);
    partition now{std::vector<std::uint32_t>(200, 1), 2};
    for (std::uint32_t n = 9; n < 200; n += 10) now.labels[n] = 0;
    const masked_gmm::split_starts starts(features, masked_gmm::measure_space(features, {}));

    const auto halves = starts.halves(now, {.threads = 1});

    std::size_t same = 0;
    std::size_t all = 0;
    for (std::size_t n = 0; n < 200; ++n) {
        if (now.labels[n] == 0) continue;
        ++all;
        same += halves[n] == truth[n] ? 1 : 0;
    }
    EXPECT_TRUE(same == 0 || same == all) << same << " of " << all;
    EXPECT_EQ(starts.halves(now, {.threads = 3}), halves);
}

TEST(MaskedGmm, StartFollowsTheNumberOfSpikesWhenAsked) {
    for (const auto& [spikes, clusters] : {std::pair{2'000U, 50U}, {12'000U, 60U}}) {
        const spike_features features =
            make_cloud({.spikes = spikes, .units = 30, .channels = 32, .seed = 9}).features;
        EXPECT_EQ(masked_gmm::start_by_masks(features, 0).clusters, clusters + 1);
    }
}

TEST(MaskedGmm, StopsEarlyWhenAskedAndSaysSo) {
    const spike_features features = make_cloud({.spikes = 3000, .units = 10, .seed = 9}).features;
    const clustering_result early = sort_spikes(features, {.stop = em_stop_rule::seed});
    const clustering_result whole = sort_spikes(features, {});

    EXPECT_EQ(early.stopped, stop_reason::few_changed);
    EXPECT_LT(early.iterations.size(), whole.iterations.size());
    ASSERT_FALSE(early.warnings.empty());
    EXPECT_NE(early.warnings.back().find("before convergence (few-changed)"), std::string::npos);
    EXPECT_EQ(whole.stopped, stop_reason::converged);
    EXPECT_TRUE(whole.warnings.empty());
    EXPECT_LT(whole.score(), early.score());
}

TEST(MaskedGmm, SaysWhenItRanOutOfIterations) {
    const clustering_result found =
        sort_spikes(make_cloud({.spikes = 500}).features, {.max_iterations = 2});
    EXPECT_EQ(found.iterations.size(), 2U);
    EXPECT_EQ(found.stopped, stop_reason::max_iterations);
    ASSERT_EQ(found.warnings.size(), 1U);
}

// Results must be numbers and exist for all data.
class DegenerateSpikes : public ::testing::TestWithParam<sort_strategy> {
protected:
    static clustering_result sorted(const std::vector<std::vector<double>>& values,
                                    const std::vector<std::vector<double>>& masks,
                                    masked_gmm_options options = {}) {
        std::vector<double> all;
        spike_masks sparse;
        for (const auto& row : values) all.insert(all.end(), row.begin(), row.end());
        for (const auto& row : masks) sparse.append(row);
        options.strategy = GetParam();
        clustering_result found =
            sort_spikes({values.front().size(), std::move(all), std::move(sparse)}, options);
        EXPECT_EQ(found.labels.size(), values.size());
        EXPECT_TRUE(std::isfinite(found.score()));
        for (const std::uint32_t label : found.labels) EXPECT_LE(label, found.units);
        return found;
    }
};

TEST_P(DegenerateSpikes, OneOrTwo) {
    EXPECT_LE(sorted({{3, 4}}, {{1, 0}}).units, 1U);
    EXPECT_LE(sorted({{3, 4}, {5, 4}}, {{1, 0}, {0, 1}}).units, 2U);
}

TEST_P(DegenerateSpikes, AllTheSame) {
    const std::vector<std::vector<double>> same(50, {2, 2, 2});
    sorted(same, std::vector<std::vector<double>>(50, {1, 1, 0}));
    sorted(same, std::vector<std::vector<double>>(50, {1, 1, 1}));
}

TEST_P(DegenerateSpikes, NeverMaskedAlwaysMaskedAndConstantFeatures) {
    cloud_random random(1);
    std::vector<std::vector<double>> values;
    std::vector<std::vector<double>> masks;
    for (int n = 0; n < 200; ++n) {
        values.push_back({random.normal() + 5 * (n % 2), random.normal(), 7});
        masks.push_back({1, 0, n % 2 == 0 ? 0.5 : 0});
    }
    const clustering_result found = sorted(values, masks, {.split_first = 1, .split_every = 1});
    EXPECT_GE(found.units, 1U);
}

TEST_P(DegenerateSpikes, WithoutAnyMask) {
    cloud_random random(2);
    std::vector<std::vector<double>> values;
    for (int n = 0; n < 60; ++n) values.push_back({random.normal(), random.normal()});
    sorted(values, std::vector<std::vector<double>>(60, {0, 0}));
    std::vector<std::vector<double>> some(60, {1, 0});
    some[7] = {0, 0};
    sorted(values, some);
}

TEST_P(DegenerateSpikes, WithMoreFeaturesThanSpikes) {
    cloud_random random(3);
    std::vector<std::vector<double>> values(12, std::vector<double>(40));
    for (auto& row : values)
        for (double& x : row) x = random.normal();
    sorted(values, std::vector<std::vector<double>>(12, std::vector<double>(40, 1)),
           {.points_for_cluster_mask = 1e-100, .split_first = 1});
}

INSTANTIATE_TEST_SUITE_P(, DegenerateSpikes,
                         ::testing::Values(sort_strategy::reference, sort_strategy::cpu),
                         [](const auto& of) { return std::string(to_string(of.param)); });

// One spike has no variance, and two have almost none.
TEST(MaskedGmm, DoesNotMeasureNoiseOnOneMaskedSpike) {
    std::vector<double> values;
    spike_masks masks;
    cloud_random random(4);
    for (int n = 0; n < 100; ++n) {
        values.insert(values.end(), {random.normal(), random.normal()});
        masks.append(std::vector<double>{n % 2 == 0 ? 0.0 : 1.0, n == 5 ? 0.0 : 1.0});
    }
    const clustering_result found = sort_spikes({2, values, masks});
    ASSERT_FALSE(found.warnings.empty());
    EXPECT_NE(found.warnings[0].find("1 of 2 features are masked for no spike or for fewer than 4"),
              std::string::npos);
    for (const std::string& warning : found.warnings)
        EXPECT_EQ(warning.find("no variance"), std::string::npos) << warning;
}

TEST(MaskedGmm, SaysThatThereAreTooFewSpikes) {
    spike_masks masks;
    for (int n = 0; n < 3; ++n) masks.append(std::vector<double>{0});
    const clustering_result found = sort_spikes({1, {0.1, 0.2, 0.3}, masks});
    ASSERT_FALSE(found.warnings.empty());
    EXPECT_NE(found.warnings.back().find("There are 3 spikes, which are too few"),
              std::string::npos)
        << found.warnings.back();
}

TEST(MaskedGmm, WarnsOfFeaturesWithoutNoise) {
    std::vector<double> values;
    spike_masks masks;
    cloud_random random(4);
    for (int n = 0; n < 100; ++n) {
        values.insert(values.end(), {random.normal(), 3});
        masks.append(std::vector<double>{1, 0});
    }
    const clustering_result found = sort_spikes({2, values, masks});
    ASSERT_EQ(found.warnings.size(), 2U);
    EXPECT_NE(found.warnings[0].find("1 of 2 features are masked for no spike"), std::string::npos);
    EXPECT_NE(found.warnings[1].find("1 of 2 features has no variance"), std::string::npos);
}

}  // namespace
}  // namespace spikeweave
