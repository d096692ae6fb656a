#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "support/masked_gmm.hpp"
#include "support/shared_data.hpp"
#include "support/spike_clouds.hpp"

// Compares the strategy on a GPU with the dense formulas and, for more spikes than those can
// handle, with the one on the CPU.
namespace spikeweave {
namespace {

using masked_gmm::assignment;
using masked_gmm::cluster_model;
using masked_gmm::mixture;
using masked_gmm::partition;

const execution on_gpu{.devices = {0}};
spike_cloud cloud(std::uint64_t seed, std::size_t spikes = 600, std::size_t channels = 5) {
    return make_cloud({.spikes = spikes, .units = 6, .channels = channels, .seed = seed});
}

// Gives every feature of every spike a mask above 0.
spike_features unmasked(const spike_cloud& from) {
    spike_masks masks;
    cloud_random random(9);
    std::vector<double> row(from.features.feature_count());
    for (std::size_t n = 0; n < from.features.size(); ++n) {
        for (double& mask : row) mask = random.below(5) == 0 ? 0.5 : 1;
        masks.append(row);
    }
    return {from.features.feature_count(),
            {from.features.values().begin(), from.features.values().end()},
            std::move(masks)};
}

void expect_same_models(mixture& expected_by, mixture& found_by, const partition& now) {
    const auto expected = expected_by.models(now, {.threads = 2});
    const auto found = found_by.models(now, on_gpu);
    ASSERT_EQ(expected.size(), found.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_NEAR(found[k].weight, expected[k].weight, 1e-12);
        EXPECT_EQ(found[k].block, expected[k].block);
        expect_near(found[k].mean, expected[k].mean, 1e-10, "mean");
        expect_near(found[k].covariance, expected[k].covariance, 1e-10, "covariance");
        expect_near(found[k].variance, expected[k].variance, 1e-10, "variance");
    }
}

void expect_same_assignment(const assignment& expected, const assignment& found) {
    EXPECT_EQ(found.best, expected.best);
    EXPECT_EQ(found.second, expected.second);
    for (std::size_t n = 0; n < found.best.size(); ++n) {
        const double scale = 1e-10 * std::max(1e2, std::abs(expected.best_cost[n]));
        ASSERT_NEAR(found.best_cost[n], expected.best_cost[n], scale) << n;
        if (expected.second[n] == masked_gmm::no_cluster)
            ASSERT_EQ(found.second_cost[n], expected.second_cost[n]);
        else
            ASSERT_NEAR(found.second_cost[n], expected.second_cost[n], 1e2 * scale) << n;
    }
}

// Compares all steps of a search at one partition.
void expect_same_steps(mixture& expected_by, mixture& found_by, const partition& now) {
    const assignment expected = expected_by.assign(now, {.threads = 2});
    expect_same_assignment(expected, found_by.assign(now, on_gpu));
    std::vector<std::uint8_t> sides(now.labels.size());
    cloud_random random(5);
    for (std::uint8_t& side : sides) side = random.below(2) == 1 ? 1 : 0;
    const auto splits = expected_by.split_candidates(now, sides, {.threads = 2});
    EXPECT_EQ(found_by.split_candidates(now, sides, on_gpu), splits);
    for (std::uint32_t k = 1; k < splits.size(); ++k) {
        if (splits[k].empty()) continue;
        const double change = expected_by.split_change(now, k, splits[k]);
        EXPECT_NEAR(found_by.split_change(now, k, splits[k]), change, 1e-6);
        // The sides need not be those that the search would try.
        std::vector<std::uint8_t> other = splits[k];
        other[0] = other[0] == 0 ? 1 : 0;
        if (std::count(other.begin(), other.end(), other[0]) == static_cast<long>(other.size()))
            continue;
        EXPECT_NEAR(found_by.split_change(now, k, other), expected_by.split_change(now, k, other),
                    1e-6);
    }
}

TEST(MaskedGmmGpu, FitsAndAssignsAsTheFormulas) {
    for (const double points : cluster_masks) {
        const spike_cloud made = cloud(3);
        const masked_gmm_options options{.points_for_cluster_mask = points,
                                         .exact_variances = points > 20};
        const auto reference = masked_gmm::make_reference(made.features, options);
        const auto cuda = masked_gmm::make_cuda(made.features, options, on_gpu);
        for (const std::uint32_t clusters : {1U, 4U, 20U}) {
            SCOPED_TRACE(testing::Message() << points << ", " << clusters << " clusters");
            partition now = masked_gmm::start_by_masks(made.features, clusters);
            // Some spikes start as noise.
            for (std::size_t n = 0; n < now.labels.size(); n += 17) now.labels[n] = 0;
            expect_same_models(*reference, *cuda, now);
            expect_same_steps(*reference, *cuda, now);
        }
    }
}

// Blocks and groups have many tiles, and there are many clusters.
TEST(MaskedGmmGpu, IsTheCpusOnManySpikes) {
    const spike_cloud made =
        make_cloud({.spikes = 20'000, .units = 60, .channels = 64, .seed = 11});
    for (const std::uint32_t clusters : {100U, 480U}) {
        const masked_gmm_options options{};
        const auto cpu = masked_gmm::make_cpu(made.features, options, {.threads = 2});
        const auto cuda = masked_gmm::make_cuda(made.features, options, on_gpu);
        const partition now = masked_gmm::start_by_masks(made.features, clusters);
        expect_same_models(*cpu, *cuda, now);
        expect_same_steps(*cpu, *cuda, now);
    }
}

// 3 x 80 features of each spike are more than a group's tile has room for.
TEST(MaskedGmmGpu, TakesSpikesWithoutMasks) {
    for (const std::size_t channels : {20U, 80U}) {
        SCOPED_TRACE(channels);
        const spike_features features = unmasked(cloud(6, 2'000, channels));
        const auto cpu = masked_gmm::make_cpu(features, {}, {.threads = 2});
        const auto cuda = masked_gmm::make_cuda(features, {}, on_gpu);
        partition now{std::vector<std::uint32_t>(features.size()), 7};
        for (std::size_t n = 0; n < now.labels.size(); ++n)
            now.labels[n] = static_cast<std::uint32_t>(n % 7);
        expect_same_models(*cpu, *cuda, now);
        expect_same_assignment(cpu->assign(now, {}), cuda->assign(now, on_gpu));
    }
}

// Far from all noise, the terms of the E-step cancel.
TEST(MaskedGmmGpu, WorksOutWhatCancels) {
    spike_cloud made = cloud(8);
    std::vector<double> values{made.features.values().begin(), made.features.values().end()};
    const std::size_t features = made.features.feature_count();
    for (std::size_t n = 0; n < made.features.size(); ++n) {
        if (made.truth[n] != 1) continue;
        for (const std::uint32_t i : made.features.unmasked(n)) values[n * features + i] *= 3e4;
    }
    const spike_features far{features, std::move(values), made.features.masks()};
    const masked_gmm_options options{.points_for_cluster_mask = 1e-100};
    const auto reference = masked_gmm::make_reference(far, options);
    const auto cuda = masked_gmm::make_cuda(far, options, on_gpu);
    const partition now{made.truth, 7};
    const assignment expected = reference->assign(now, {});
    const assignment found = cuda->assign(now, on_gpu);
    EXPECT_EQ(found.best, expected.best);
    for (std::size_t n = 0; n < found.best.size(); ++n)
        ASSERT_NEAR(found.best_cost[n], expected.best_cost[n], 1e-6) << n;
}

void expect_same_search(const spike_features& features, masked_gmm_options options) {
    const clustering_result expected = sort_spikes(features, options, {.threads = 2});
    const clustering_result found = sort_spikes(features, options, on_gpu);
    EXPECT_EQ(found.ran_on, sort_strategy::cuda);
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_EQ(found.units, expected.units);
    EXPECT_EQ(found.stopped, expected.stopped);
    EXPECT_EQ(found.warnings, expected.warnings);
    ASSERT_EQ(found.iterations.size(), expected.iterations.size());
    for (std::size_t i = 0; i < found.iterations.size(); ++i) {
        const masked_gmm_iteration& a = expected.iterations[i];
        const masked_gmm_iteration& b = found.iterations[i];
        EXPECT_EQ(b.clusters, a.clusters);
        EXPECT_EQ(b.changed, a.changed) << i;
        EXPECT_EQ(b.deleted, a.deleted);
        EXPECT_EQ(b.splits, a.splits);
        EXPECT_NEAR(b.score(), a.score(), 1e-6) << i;
    }
    const clustering_result again = sort_spikes(features, options, on_gpu);
    EXPECT_EQ(again.labels, found.labels);
    for (std::size_t i = 0; i < found.iterations.size(); ++i)
        EXPECT_EQ(again.iterations[i].score(), found.iterations[i].score());
}

TEST(MaskedGmmGpu, WholeSearchesAreTheCpus) {
    for (const std::uint32_t start : {2U, 50U})
        expect_same_search(cloud(5).features,
                           {.starting_clusters = start, .split_first = 3, .split_every = 5});
    expect_same_search(
        make_cloud({.spikes = 10'000, .units = 30, .channels = 32, .seed = 2}).features, {});
}

// Near boundaries double precision decides; elsewhere errors are those of single precision.
TEST(MaskedGmmGpu, FastPrecisionFindsTheSameUnits) {
    const spike_features features =
        make_cloud({.spikes = 10'000, .units = 30, .channels = 32, .seed = 2}).features;
    masked_gmm_options options;
    const auto full = masked_gmm::make_cuda(features, options, on_gpu);
    options.precision = sort_precision::fast;
    const auto fast = masked_gmm::make_cuda(features, options, on_gpu);
    partition now = masked_gmm::start_by_masks(features, 100);
    for (int iteration = 0; iteration < 5; ++iteration) {
        const assignment expected = full->assign(now, on_gpu);
        const assignment found = fast->assign(now, on_gpu);
        double difference = 0;
        double sum = 0;
        std::size_t moved = 0;
        for (std::size_t n = 0; n < found.best.size(); ++n) {
            difference += found.best_cost[n] - expected.best_cost[n];
            sum += expected.best_cost[n];
            moved += found.best[n] != expected.best[n] ? 1 : 0;
        }
        EXPECT_LE(std::abs(difference), 1e-5 * std::abs(sum)) << iteration;
        EXPECT_LE(moved, features.size() / 1000) << iteration;
        EXPECT_NE(found.best_cost, expected.best_cost);
        now = masked_gmm::start_from(expected.best, features.size());
        const auto models = full->models(now, on_gpu);
        const auto others =
            full->models(masked_gmm::start_from(found.best, features.size()), on_gpu);
        ASSERT_EQ(models.size(), others.size());
        for (std::size_t k = 0; k < models.size(); ++k) {
            EXPECT_NEAR(others[k].weight, models[k].weight, 5e-5 * models[k].weight);
            expect_near(models[k].mean, others[k].mean, 5e-5, "mean");
            expect_near(models[k].variance, others[k].variance, 5e-5, "variance");
        }
    }
    EXPECT_THROW(sort_spikes(features, options), invalid_argument);
}

TEST(MaskedGmmGpu, FewSpikesAndConstantColumns) {
    for (const std::size_t spikes : {1U, 2U, 3U, 40U}) {
        SCOPED_TRACE(spikes);
        const spike_cloud made = cloud(1, spikes);
        expect_same_search(made.features, {});
        std::vector<double> values{made.features.values().begin(), made.features.values().end()};
        for (std::size_t n = 0; n < spikes; ++n) values[n * made.features.feature_count()] = 7;
        expect_same_search({made.features.feature_count(), values, made.features.masks()}, {});
    }
    // All spikes are equal, so that there is no variance.
    spike_masks masks;
    for (int n = 0; n < 50; ++n) masks.append(std::vector<double>{1, 0.5, 0});
    expect_same_search({3, std::vector<double>(150, 2.5), masks}, {});
}

TEST(MaskedGmmGpu, UsesTheFirstOfTwoDevices) {
    const spike_cloud made = cloud(1, 400);
    EXPECT_EQ(sort_spikes(made.features, {}, {.devices = {0, 0}}).labels,
              sort_spikes(made.features, {}, on_gpu).labels);
}

TEST(MaskedGmmGpu, RefusesAnotherStrategy) {
    const spike_cloud made = cloud(1, 40);
    EXPECT_THROW(sort_spikes(made.features, {.strategy = sort_strategy::cpu}, on_gpu),
                 invalid_argument);
    EXPECT_THROW(sort_spikes(made.features, {.strategy = sort_strategy::cuda}), invalid_argument);
}

TEST(MaskedGmmGpu, FirstIterationsOnARecordingAreTheCpus) {
    const char* const recording = "sorting/klusta32.npz";
    SPIKEWEAVE_NEEDS_SHARED_DATA(recording);
    const feature_file file = read_features(shared_data(recording));
    const auto cpu = masked_gmm::make_cpu(file.features, {}, {.threads = 2});
    const auto cuda = masked_gmm::make_cuda(file.features, {}, on_gpu);
    partition now = masked_gmm::start_by_masks(file.features, 100);
    for (int iteration = 0; iteration < 5; ++iteration) {
        SCOPED_TRACE(iteration);
        const auto expected = cpu->models(now, {.threads = 2});
        const auto found = cuda->models(now, on_gpu);
        ASSERT_EQ(expected.size(), found.size());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            EXPECT_NEAR(found[k].weight, expected[k].weight, 1e-9 * expected[k].weight);
            expect_near(expected[k].mean, found[k].mean, 1e-9, "mean");
            expect_near(expected[k].variance, found[k].variance, 1e-9, "variance");
        }
        const assignment next = cpu->assign(now, {.threads = 2});
        expect_same_assignment(next, cuda->assign(now, on_gpu));
        now = masked_gmm::start_from(next.best, file.features.size());
    }
    expect_same_search(file.features, {.starting_clusters = 100});
}

}  // namespace
}  // namespace spikeweave
