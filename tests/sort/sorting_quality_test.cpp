#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/spike_clouds.hpp"
#include "synfire/sort/masked_gmm.hpp"

// Planted units, some of which are much alike, are found again.
namespace synfire {
namespace {

// Spikes of no unit have no truth to agree with.
double agreement(const spike_cloud& cloud, const std::vector<std::uint32_t>& labels) {
    std::vector<std::uint32_t> truth;
    std::vector<std::uint32_t> found;
    for (std::size_t n = 0; n < labels.size(); ++n) {
        if (cloud.truth[n] == 0) continue;
        truth.push_back(cloud.truth[n]);
        found.push_back(labels[n]);
    }
    return adjusted_rand(truth, found);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Units on the same channel may overlap in these: klustakwik2 comes to the same agreement on such
// spikes.
TEST(SortingQuality, FindsThirtyUnitsFromManyClustersAndFromFew) {
    for (const auto& [start, least] : {std::pair{500U, 0.955}, std::pair{50U, 0.93}}) {
        std::vector<double> agreements;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const spike_cloud cloud = make_cloud(
                {.spikes = 10'000, .units = 30, .channels = 32, .of_no_unit = 0, .seed = seed});
            const clustered_spikes found =
                sort_spikes(cloud.features, {.starting_clusters = start, .seed = seed});
            agreements.push_back(agreement(cloud, found.labels));
            EXPECT_NEAR(found.units, 30, 4);
        }
        EXPECT_GE(median(agreements), least) << start;
    }
}

TEST(SortingQuality, FindsUnitsAmongSpikesOfNone) {
    const spike_cloud cloud =
        make_cloud({.spikes = 10'000, .units = 30, .channels = 32, .seed = 7});
    const clustered_spikes found = sort_spikes(cloud.features);
    EXPECT_GE(agreement(cloud, found.labels), 0.99);
}

TEST(SortingQuality, FindsSixtyUnitsAmongFiftyThousandSpikes) {
    const spike_cloud cloud =
        make_cloud({.spikes = 50'000, .units = 60, .channels = 32, .of_no_unit = 0, .seed = 2});
    const clustered_spikes found = sort_spikes(cloud.features, {.starting_clusters = 50});
    EXPECT_NEAR(found.units, 60, 3);
    EXPECT_GE(agreement(cloud, found.labels), 0.975);
}

}  // namespace
}  // namespace synfire
