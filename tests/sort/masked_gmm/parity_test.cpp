#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sort/masked_gmm/steps.hpp"
#include "support/masked_gmm.hpp"
#include "support/spike_clouds.hpp"

namespace spikeweave {
namespace {

using masked_gmm::assignment;
using masked_gmm::cluster_model;
using masked_gmm::mixture;
using masked_gmm::partition;

// Both strategies with the same spikes.
struct pair {
    std::unique_ptr<mixture> reference;
    std::unique_ptr<mixture> cpu;

    pair(const spike_features& features, const masked_gmm_options& options)
        : reference(masked_gmm::make_reference(features, options)),
          cpu(masked_gmm::make_cpu(features, options, {.threads = 2})) {}
};

spike_cloud small_cloud(std::uint64_t seed) {
    return make_cloud({.spikes = 600, .units = 6, .channels = 5, .seed = seed});
}

TEST(MaskedGmmParity, FitsTheSameClustersToTheSameLabels) {
    std::size_t blocks = 0;
    std::size_t diagonals = 0;
    for (const double points : cluster_masks) {
        const spike_cloud made = small_cloud(3);
        // Every second pair has exact variances outside the blocks.
        const pair both(made.features, {.points_for_cluster_mask = points,
                                        .exact_variances = points == 10 || points == 1e9});
        const partition start = masked_gmm::start_by_masks(made.features, 20);

        const auto expected = both.reference->models(start, {});
        const auto found = both.cpu->models(start, {.threads = 2});

        expect_near(both.reference->noise().mean, both.cpu->noise().mean, 1e-12, "noise mean");
        expect_near(both.reference->noise().variance, both.cpu->noise().variance, 1e-12, "noise");
        ASSERT_EQ(expected.size(), found.size());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            EXPECT_NEAR(found[k].weight, expected[k].weight, 1e-15);
            EXPECT_EQ(found[k].block, expected[k].block);
            expect_near(found[k].mean, expected[k].mean, 1e-10, "mean");
            expect_near(found[k].covariance, expected[k].covariance, 1e-10, "covariance");
            expect_near(found[k].variance, expected[k].variance, 1e-10, "variance");
            blocks += found[k].block.size();
            diagonals += found[k].variance.size() - found[k].block.size();
        }
    }
    EXPECT_GT(blocks, 100U);
    EXPECT_GT(diagonals, 100U);
}

TEST(MaskedGmmParity, GivesTheSameDensitiesGainsAndSplits) {
    std::size_t tried = 0;
    for (const double points : cluster_masks) {
        const spike_cloud made = small_cloud(4);
        const pair both(made.features,
                        {.points_for_cluster_mask = points, .exact_variances = points >= 40});
        partition now = masked_gmm::start_by_masks(made.features, 4);
        // Some spikes start as noise.
        for (std::size_t n = 0; n < now.labels.size(); n += 17) now.labels[n] = 0;

        const assignment expected = both.reference->assign(now, {});
        const assignment found = both.cpu->assign(now, {.threads = 2});
        EXPECT_EQ(found.best, expected.best);
        EXPECT_EQ(found.second, expected.second);
        for (std::size_t n = 0; n < found.best.size(); ++n) {
            ASSERT_NEAR(found.best_cost[n], expected.best_cost[n], 1e-8);
            ASSERT_NEAR(found.second_cost[n], expected.second_cost[n], 1e-8);
        }
        EXPECT_NEAR(both.cpu->penalty(now), both.reference->penalty(now), 1e-8);
        const auto gains = both.reference->deletion_gains(expected, now.clusters, {});
        const auto sparse_gains = both.cpu->deletion_gains(found, now.clusters, {.threads = 2});
        for (std::size_t k = 1; k < gains.size(); ++k) EXPECT_NEAR(sparse_gains[k], gains[k], 1e-6);

        std::vector<std::uint8_t> sides(now.labels.size());
        cloud_random random(5);
        for (std::uint8_t& side : sides) side = random.below(2) == 1 ? 1 : 0;
        const auto splits = both.reference->split_candidates(now, sides, {});
        EXPECT_EQ(both.cpu->split_candidates(now, sides, {.threads = 2}), splits);
        for (std::uint32_t k = 1; k < splits.size(); ++k) {
            if (splits[k].empty()) continue;
            EXPECT_NEAR(both.cpu->split_change(now, k, splits[k]),
                        both.reference->split_change(now, k, splits[k]), 1e-6);
            ++tried;
        }
    }
    EXPECT_GT(tried, 4U);
}

TEST(MaskedGmmParity, WholeSearchesAreTheSame) {
    std::size_t deletions = 0;
    std::uint32_t at_once = 0;
    std::size_t splits = 0;
    for (const auto& [start, many] : {std::pair{2U, false}, {50U, false}, {50U, true}}) {
        const spike_cloud made = small_cloud(5);
        masked_gmm_options options{
            .starting_clusters = start,
            .points_for_cluster_mask = 10,
            .exact_variances = many,
            .deletions = many ? cluster_deletions::all : cluster_deletions::one,
            .split_first = 3,
            .split_every = 5,
            .split_start = start == 2U ? split_halves::random : split_halves::principal};
        options.strategy = sort_strategy::reference;
        const clustering_result expected = sort_spikes(made.features, options);
        options.strategy = sort_strategy::cpu;
        const clustering_result found = sort_spikes(made.features, options, {.threads = 2});

        EXPECT_EQ(expected.ran_on, sort_strategy::reference);
        EXPECT_EQ(found.ran_on, sort_strategy::cpu);
        EXPECT_EQ(found.labels, expected.labels);
        EXPECT_EQ(found.stopped, expected.stopped);
        ASSERT_EQ(found.iterations.size(), expected.iterations.size());
        for (std::size_t i = 0; i < found.iterations.size(); ++i) {
            const masked_gmm_iteration& a = found.iterations[i];
            const masked_gmm_iteration& b = expected.iterations[i];
            EXPECT_NEAR(a.score(), b.score(), 1e-6);
            EXPECT_EQ(a.changed, b.changed);
            EXPECT_EQ(a.deleted, b.deleted);
            EXPECT_EQ(a.splits, b.splits);
            deletions += a.deleted;
            at_once = std::max(at_once, a.deleted);
            splits += a.splits;
        }
    }
    EXPECT_GT(deletions, 2U);
    EXPECT_GT(at_once, 1U);
    EXPECT_GT(splits, 1U);
}

// For a spike many SDs from noise, cancellation in the expanded quadratic form must not affect the
// cost.
TEST(MaskedGmmParity, HoldsWhereClustersHaveNextToNoVariance) {
    std::vector<double> values;
    spike_masks masks;
    cloud_random random(6);
    for (std::size_t n = 0; n < 300; ++n) {
        const double at = n % 3 == 0 ? 0 : n % 3 == 1 ? 1 : 0.5;
        const double spread = n % 3 == 0 ? 1e-7 : 0;
        values.push_back(at + spread * random.normal());
        values.push_back(1 - at * at + spread * random.normal());
        masks.append(n % 3 == 0 ? std::vector<double>{0, 0} : std::vector<double>{1, 1});
    }
    const spike_features features(2, std::move(values), std::move(masks));
    const pair both(features, {});
    partition now{.clusters = 3};
    for (std::size_t n = 0; n < 300; ++n) now.labels.push_back(static_cast<std::uint32_t>(n % 3));

    const assignment expected = both.reference->assign(now, {});
    const assignment found = both.cpu->assign(now, {});

    EXPECT_EQ(found.best, expected.best);
    EXPECT_EQ(found.second, expected.second);
    for (std::size_t n = 0; n < 300; ++n)
        ASSERT_NEAR(found.best_cost[n], expected.best_cost[n],
                    1e-8 * std::max(1.0, std::abs(expected.best_cost[n])));
}

}  // namespace
}  // namespace spikeweave
