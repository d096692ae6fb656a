#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "spikeweave/simulate/features.hpp"
#include "spikeweave/sort/incremental.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "support/run_length.hpp"
#include "support/spike_clouds.hpp"

// Planted units, some of them similar, are found.
namespace spikeweave {
namespace {

// Leaves out spikes of no unit, for which there is no truth.
double agreement(const std::vector<std::uint32_t>& true_units,
                 const std::vector<std::uint32_t>& labels) {
    std::vector<std::uint32_t> truth;
    std::vector<std::uint32_t> found;
    for (std::size_t n = 0; n < labels.size(); ++n) {
        if (true_units[n] == 0) continue;
        truth.push_back(true_units[n]);
        found.push_back(labels[n]);
    }
    return adjusted_rand(truth, found);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Some of these units are so similar that the score is better with one cluster for two of them.
// Started from the truth, the search also ends at 0.93 to 0.99.
TEST(SortingQuality, FindsMostOfThirtyUnitsThatOverlap) {
    for (const auto& [start, least] : {std::pair{500U, 0.94}, std::pair{50U, 0.92}}) {
        std::vector<double> agreements;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const spike_cloud cloud = make_cloud(
                {.spikes = 10'000, .units = 30, .channels = 32, .of_no_unit = 0, .seed = seed});
            const clustering_result found =
                sort_spikes(cloud.features, {.starting_clusters = start});
            agreements.push_back(agreement(cloud.truth, found.labels));
            EXPECT_NEAR(found.units, 30, 4);
        }
        EXPECT_GE(median(agreements), least) << start;
    }
}

// For well separated units, the median over five seeds, because the number of clusters is 29 to 31.
TEST(SortingQuality, FindsThirtyUnitsFromAllMasksFromFewAndManyAtATime) {
    std::vector<std::pair<std::uint32_t, bool>> ways{{100'000U, true}, {50U, false}};
    if (is_long_run()) ways.emplace_back(100'000U, false);
    for (const auto& [start, many] : ways) {
        std::vector<double> agreements;
        std::vector<double> units;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const simulated_features made =
                simulate_features({.spikes = 10'000, .of_no_unit = 0, .seed = seed});
            const clustering_result found =
                sort_spikes(made.features,
                            {.starting_clusters = start,
                             .deletions = many ? cluster_deletions::all : cluster_deletions::one});
            agreements.push_back(agreement(made.truth, found.labels));
            units.push_back(found.units);
            EXPECT_GE(agreements.back(), 0.97) << start << " " << seed;
        }
        EXPECT_GE(median(agreements), 0.985) << start;
        EXPECT_NEAR(median(units), 30, 1) << start;
    }
}

// Spikes of no unit, 3 % of all, get their own clusters or join others; those of units stay
// together.
TEST(SortingQuality, FindsUnitsAmongSpikesOfNone) {
    for (const std::uint32_t start : {100'000U, 50U}) {
        const std::uint64_t seeds = start == 50U || is_long_run() ? 5 : 1;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const simulated_features made = simulate_features({.spikes = 10'000, .seed = seed});
            const clustering_result found =
                sort_spikes(made.features, {.starting_clusters = start});
            EXPECT_GE(agreement(made.truth, found.labels), 0.985) << start << " " << seed;
            EXPECT_GE(found.units, 30U) << start << " " << seed;
        }
    }
}

TEST(SortingQuality, FindsSixtyUnitsAmongFiftyThousandSpikes) {
    const simulated_features made =
        simulate_features({.spikes = 50'000, .units = 60, .of_no_unit = 0, .seed = 1});
    const clustering_result found = sort_spikes(made.features, {.starting_clusters = 50});
    EXPECT_NEAR(found.units, 60, 2);
    EXPECT_GE(agreement(made.truth, found.labels), 0.985);
}

// Compares spike by spike sorting with sorting all at once.
TEST(SortingQuality, SpikesThatComeOneAfterAnotherAreSortedAsAllAtOnce) {
    const simulated_features made =
        simulate_features({.spikes = 20'000, .of_no_unit = 0, .seed = 3});
    const clustering_result batch = sort_spikes(made.features);
    incremental_sorter sorter;
    sorter.add(made.features);
    EXPECT_GE(agreement(made.truth, sorter.labels()), 0.985);
    EXPECT_GE(adjusted_rand(batch.labels, sorter.labels()), 0.97);
}

}  // namespace
}  // namespace spikeweave
