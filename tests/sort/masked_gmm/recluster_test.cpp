#include "spikeweave/sort/recluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sort/masked_gmm/sparse_data.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/spike_clouds.hpp"

namespace spikeweave {
namespace {

using labels_t = std::vector<std::uint32_t>;

// Units 1 and 2 are merged, and numbers have gaps.
struct joined {
    spike_cloud cloud;
    labels_t labels{};

    explicit joined(std::uint64_t seed, std::size_t spikes = 800)
        : cloud(make_cloud({.spikes = spikes, .units = 5, .channels = 6, .seed = seed})) {
        for (const std::uint32_t truth : cloud.truth)
            labels.push_back(truth == 0 ? 0 : truth <= 2 ? 3 : 10 * truth);
    }
};

TEST(Recluster, FindsUnitsInOneClusterAndLeavesTheOthers) {
    const joined made(1);
    const labels_t only{3};

    const recluster_result found = recluster(made.cloud.features, made.labels, only);

    EXPECT_EQ(found.first_new, 51U);
    labels_t truth;
    labels_t units;
    for (std::size_t n = 0; n < made.labels.size(); ++n) {
        if (made.labels[n] != 3) {
            ASSERT_EQ(found.labels[n], made.labels[n]);
            continue;
        }
        EXPECT_TRUE(found.labels[n] == 0 || found.labels[n] >= found.first_new);
        truth.push_back(made.cloud.truth[n]);
        units.push_back(found.labels[n]);
    }
    EXPECT_EQ(found.spikes.size(), truth.size());
    EXPECT_EQ(std::set<std::uint32_t>(units.begin(), units.end()).size(), found.search.units);
    EXPECT_GT(adjusted_rand(truth, units), 0.98);
}

// The reference measures the whole before it uses some of its spikes.
TEST(Recluster, TakesScalingAndNoiseOfAllSpikes) {
    const joined made(3);
    const recluster_result found =
        recluster(made.cloud.features, made.labels, std::vector<std::uint32_t>{3, 40});
    const spike_features few = select_spikes(made.cloud.features, found.spikes);

    const auto whole = masked_gmm::make_reference(made.cloud.features, {});
    const auto reference = masked_gmm::make_reference(made.cloud.features, {}, found.spikes);
    const auto space = masked_gmm::measure_space(made.cloud.features, {});
    const auto cpu = masked_gmm::make_cpu(few, space, {}, {});

    ASSERT_FALSE(found.spikes.empty());
    EXPECT_EQ(reference->noise().mean, whole->noise().mean);
    EXPECT_EQ(reference->noise().variance, whole->noise().variance);
    const auto own = masked_gmm::make_reference(few, {});
    for (std::size_t i = 0; i < whole->noise().mean.size(); ++i) {
        EXPECT_NEAR(cpu->noise().mean[i], whole->noise().mean[i], 1e-12);
        EXPECT_NEAR(cpu->noise().variance[i], whole->noise().variance[i], 1e-12);
    }
    // The noise is not that of the selected spikes.
    EXPECT_NE(own->noise().mean, whole->noise().mean);
}

TEST(Recluster, IsTheSameByTheReference) {
    std::size_t units = 0;
    for (std::uint64_t seed = 4; seed < 7; ++seed) {
        const joined made(seed, 500);
        const labels_t only{3, 50};
        masked_gmm_options options{.split_first = 3, .split_every = 4};
        options.strategy = sort_strategy::reference;
        const auto expected = recluster(made.cloud.features, made.labels, only, options);
        options.strategy = sort_strategy::cpu;
        const auto found =
            recluster(made.cloud.features, made.labels, only, options, {.threads = 2});

        EXPECT_EQ(expected.search.ran_on, sort_strategy::reference);
        EXPECT_EQ(found.search.ran_on, sort_strategy::cpu);
        EXPECT_EQ(found.labels, expected.labels);
        ASSERT_EQ(found.search.iterations.size(), expected.search.iterations.size());
        for (std::size_t i = 0; i < found.search.iterations.size(); ++i)
            EXPECT_NEAR(found.search.iterations[i].score(), expected.search.iterations[i].score(),
                        1e-6);
        units += found.search.units;
    }
    EXPECT_GT(units, 6U);
}

// Reclustering all clusters is sorting without initial clusters.
TEST(Recluster, OfEverythingIsSorting) {
    const joined made(7);
    const std::set<std::uint32_t> all(made.labels.begin(), made.labels.end());
    const auto found =
        recluster(made.cloud.features, made.labels, labels_t(all.begin(), all.end()));
    labels_t expected = sort_spikes(made.cloud.features).labels;
    for (std::uint32_t& label : expected) label = label == 0 ? 0 : label + found.first_new - 1;
    EXPECT_EQ(found.labels, expected);
}

TEST(Recluster, TakesNoiseAsAClusterToo) {
    const joined made(8);
    const auto found = recluster(made.cloud.features, made.labels, labels_t{0});
    EXPECT_EQ(found.spikes.size(),
              static_cast<std::size_t>(std::count(made.labels.begin(), made.labels.end(), 0U)));
}

TEST(Recluster, SaysWhatCannotBe) {
    const joined made(1, 60);
    const auto error = [&](const labels_t& labels, const labels_t& only,
                           const masked_gmm_options& options = {}) {
        return text_of([&] { recluster(made.cloud.features, labels, only, options); });
    };
    EXPECT_NE(error(made.labels, {3, 77}).find("no spike belongs to cluster 77"),
              std::string::npos);
    EXPECT_NE(error(made.labels, {}).find("no clusters"), std::string::npos);
    EXPECT_NE(error({1, 2}, {1}).find("2 spikes, and 60"), std::string::npos);
    EXPECT_NE(error(made.labels, {3}, {.start = made.labels}).find("by their masks"),
              std::string::npos);
    labels_t last = made.labels;
    last[0] = 4294967295U;
    EXPECT_NE(error(last, {3}).find("leaves no numbers"), std::string::npos);
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_THROW(
        recluster(made.cloud.features, made.labels, labels_t{3}, {}, {.stop = stopped.get_token()}),
        cancelled);
}

}  // namespace
}  // namespace spikeweave
