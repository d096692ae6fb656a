#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "spikeweave/sort/masked_gmm.hpp"
#include "support/run_length.hpp"
#include "support/spike_clouds.hpp"

namespace spikeweave {
namespace {

// Returns whether labels are equal up to the numbers of the units.
bool same_partition(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::map<std::uint32_t, std::uint32_t> there;
    std::map<std::uint32_t, std::uint32_t> back;
    for (std::size_t n = 0; n < a.size(); ++n) {
        if (there.try_emplace(a[n], b[n]).first->second != b[n]) return false;
        if (back.try_emplace(b[n], a[n]).first->second != a[n]) return false;
    }
    return a.size() == b.size();
}

spike_features permuted(const spike_features& features, const std::vector<std::size_t>& order) {
    std::vector<double> values;
    spike_masks masks;
    for (const std::size_t n : order) {
        const auto row = features.values(n);
        values.insert(values.end(), row.begin(), row.end());
        std::vector<double> mask(features.feature_count());
        for (std::size_t a = 0; a < features.unmasked(n).size(); ++a)
            mask[features.unmasked(n)[a]] = features.mask_values(n)[a];
        masks.append(mask);
    }
    return {features.feature_count(), std::move(values), std::move(masks)};
}

TEST(MaskedGmmLaws, TheAnswerDoesNotDependOnThreads) {
    for (std::uint64_t seed = 1; seed <= property_cases(5); ++seed) {
        const spike_features features =
            make_cloud({.spikes = 5000, .units = 12, .channels = 10, .seed = seed}).features;
        const masked_gmm_options options{.starting_clusters = 30, .split_first = 5, .seed = seed};
        const clustering_result expected = sort_spikes(features, options, {.threads = 1});
        for (const int threads : {1, 2, 16}) {
            const clustering_result found = sort_spikes(features, options, {.threads = threads});
            EXPECT_EQ(found.labels, expected.labels);
            ASSERT_EQ(found.iterations.size(), expected.iterations.size());
            // The scores are equal bit by bit.
            for (std::size_t i = 0; i < found.iterations.size(); ++i)
                EXPECT_EQ(found.iterations[i].score(), expected.iterations[i].score());
        }
    }
}

TEST(MaskedGmmLaws, TheAnswerDoesNotDependOnTheOrderOfSpikes) {
    for (std::uint64_t seed = 1; seed <= property_cases(10); ++seed) {
        const spike_features features = make_cloud({.spikes = 800, .seed = seed}).features;
        std::vector<std::size_t> order(features.size());
        std::iota(order.begin(), order.end(), 0U);
        cloud_random random(seed);
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[random.below(i)]);
        // There are enough clusters for every mask, and no random halves.
        const masked_gmm_options options{.starting_clusters = 100'000, .splits = false};

        const clustering_result plain = sort_spikes(features, options);
        const clustering_result shuffled = sort_spikes(permuted(features, order), options);

        std::vector<std::uint32_t> expected;
        for (const std::size_t n : order) expected.push_back(plain.labels[n]);
        EXPECT_TRUE(same_partition(shuffled.labels, expected)) << seed;
        EXPECT_NEAR(shuffled.score(), plain.score(), 1e-6);
    }
}

// Masks depend only on whether features are large; scaling to the range removes the unit of
// measurement.
TEST(MaskedGmmLaws, TheAnswerDoesNotDependOnUnitsOfMeasurement) {
    for (std::uint64_t seed = 1; seed <= property_cases(10); ++seed) {
        const spike_features features = make_cloud({.spikes = 800, .seed = seed}).features;
        std::vector<double> values(features.values().begin(), features.values().end());
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] =
                values[i] * static_cast<double>(1U << (i % features.feature_count() % 8)) + 64;
        const spike_features other(features.feature_count(), values, features.masks());

        const clustering_result a = sort_spikes(features, {.seed = seed});
        const clustering_result b = sort_spikes(other, {.seed = seed});

        EXPECT_EQ(a.labels, b.labels) << seed;
        EXPECT_NEAR(a.score(), b.score(), 1e-6 * std::abs(a.score()));
    }
}

// Without masked features it is hard EM of an ordinary mixture, whose likelihood never decreases.
TEST(MaskedGmmLaws, UnmaskedTheLikelihoodNeverFalls) {
    std::size_t steps = 0;
    for (std::uint64_t seed = 1; seed <= property_cases(20); ++seed) {
        const spike_cloud cloud =
            make_cloud({.spikes = 600, .units = 4, .channels = 2, .of_no_unit = 0, .seed = seed});
        spike_masks all;
        for (std::size_t n = 0; n < 600; ++n)
            all.append(std::vector<double>(cloud.features.feature_count(), 1));
        const spike_features features(
            cloud.features.feature_count(),
            {cloud.features.values().begin(), cloud.features.values().end()}, all);
        cloud_random random(seed);
        std::vector<std::uint32_t> start(600);
        for (std::uint32_t& label : start) label = static_cast<std::uint32_t>(random.below(4)) + 1;
        const clustering_result found = sort_spikes(features, {.points_for_cluster_mask = 1e-100,
                                                               .prior_point = 1e-9,
                                                               .noise_point = 1e-9,
                                                               .deletions = cluster_deletions::none,
                                                               .splits = false,
                                                               .start = start});
        for (std::size_t i = 1; i < found.iterations.size(); ++i, ++steps)
            EXPECT_LE(found.iterations[i].negated_log_likelihood,
                      found.iterations[i - 1].negated_log_likelihood + 1e-4);
    }
    EXPECT_GT(steps, 0U);
}

struct centre {
    std::vector<double> at;
    double deviation;
    std::vector<double> mask;
    std::vector<double> mask_deviation;
};

// klustakwik2's test data: spikes around centres, with masks for each.
spike_cloud around(const std::vector<centre>& centres, std::size_t spikes, std::uint64_t seed) {
    cloud_random random(seed);
    std::vector<double> values;
    spike_masks masks;
    std::vector<std::uint32_t> truth;
    const std::size_t width = centres.front().at.size();
    for (std::uint32_t c = 0; c < centres.size(); ++c) {
        for (std::size_t n = 0; n < spikes; ++n) {
            std::vector<double> mask(width);
            for (std::size_t i = 0; i < width; ++i) {
                values.push_back(centres[c].at[i] + centres[c].deviation * random.normal());
                mask[i] = std::clamp(
                    centres[c].mask[i] + centres[c].mask_deviation[i] * random.normal(), 0.0, 1.0);
            }
            masks.append(mask);
            truth.push_back(c);
        }
    }
    return {{width, std::move(values), std::move(masks)}, std::move(truth)};
}

// klustakwik2's criterion: 98 % of each centre's spikes are in a separate cluster.
bool well_clustered(const std::vector<std::uint32_t>& labels, std::size_t spikes) {
    std::set<std::uint32_t> dominant;
    const std::size_t centres = labels.size() / spikes;
    for (std::size_t c = 0; c < centres; ++c) {
        std::map<std::uint32_t, std::size_t> counts;
        for (std::size_t n = c * spikes; n < (c + 1) * spikes; ++n) ++counts[labels[n]];
        const auto most = std::max_element(counts.begin(), counts.end(),
                                           [](auto& a, auto& b) { return a.second < b.second; });
        if (most->first == 0 || most->second * 100 < spikes * 98) return false;
        dominant.insert(most->first);
    }
    const auto noise = static_cast<std::size_t>(std::count(labels.begin(), labels.end(), 0U));
    return dominant.size() == centres && noise * 50 <= spikes;
}

std::vector<centre> two_centres(double mask, double deviation) {
    return {{{1, 0}, 0.01, {mask, 0}, {deviation, 0}}, {{0, 1}, 0.01, {0, mask}, {0, deviation}}};
}

std::vector<centre> four_centres(double deviation) {
    std::vector<centre> all;
    for (const std::vector<double>& mask : std::vector<std::vector<double>>{
             {1.5, 0.5, 0, 0}, {0, 0.5, 1.5, 0}, {0, 0, 0.5, 1.5}, {1.5, 0, 0, 1.5}}) {
        centre one{std::vector<double>(4), 0.1, mask, std::vector<double>(4)};
        for (std::size_t i = 0; i < 4; ++i) {
            one.at[i] = mask[i] > 0 ? 1 : 0;
            one.mask_deviation[i] = mask[i] > 0 ? deviation : 0;
        }
        all.push_back(one);
    }
    return all;
}

TEST(MaskedGmmLaws, FindsTheCentresOfKlustakwik2sTests) {
    struct data {
        std::vector<centre> centres;
        std::size_t spikes;
        std::uint32_t start;
    };
    const std::vector<data> all{{two_centres(1, 0), 100, 10},
                                {two_centres(0.5, 0.01), 100, 10},
                                {four_centres(0), 1000, 20},
                                {four_centres(0.05), 1000, 20}};
    std::size_t well = 0;
    std::size_t tried = 0;
    for (const data& one : all) {
        for (std::uint64_t seed = 1; seed <= property_cases(25); ++seed, ++tried) {
            const spike_cloud cloud = around(one.centres, one.spikes, seed);
            const clustering_result found =
                sort_spikes(cloud.features,
                            {.starting_clusters = one.start, .points_for_cluster_mask = 1e-100});
            well += well_clustered(found.labels, one.spikes) ? 1 : 0;
        }
    }
    EXPECT_GE(well * 100, tried * 99);
}

}  // namespace
}  // namespace spikeweave
