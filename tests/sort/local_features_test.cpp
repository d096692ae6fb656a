// Features that are known around each spike only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sort/masked_gmm/sparse_data.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/spike_features.hpp"
#include "spikeweave/sort/templates.hpp"
#include "support/error_text.hpp"
#include "support/spike_clouds.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {

using masked_gmm::feature_space;
using masked_gmm::measure_space;

namespace {

using lists = std::vector<std::vector<std::uint32_t>>;

// The features of a spike on the channels of its list, and its masks there.
spike_features known_on(const spike_features& all, std::size_t per_channel, const lists& patches,
                        const std::vector<std::uint32_t>& patch_of) {
    local_values values{
        .features_per_channel = per_channel, .patches = patches, .patch_of = patch_of};
    spike_masks masks;
    for (std::size_t n = 0; n < all.size(); ++n) {
        std::vector<double> row(all.feature_count());
        std::vector<double> kept(all.feature_count());
        all.write_masks(n, row);
        for (const std::uint32_t channel : patches[patch_of[n]])
            for (std::size_t k = 0; k < per_channel; ++k) {
                const std::size_t i = channel * per_channel + k;
                values.values.push_back(static_cast<float>(all.value(n, i)));
                kept[i] = row[i];
            }
        masks.append(kept);
    }
    return spike_features::known_around(all.feature_count(), std::move(values), std::move(masks));
}

// A cloud whose features are single precision numbers.
spike_cloud rounded_cloud(const cloud_options& options) {
    spike_cloud out = make_cloud(options);
    std::vector<double> values = out.features.dense_values();
    for (double& value : values) value = static_cast<float>(value);
    out.features =
        spike_features(out.features.feature_count(), std::move(values), out.features.masks());
    return out;
}

// Two channels of two features; each spike is known on one of them.
spike_features half_known() {
    return spike_features::known_around(4,
                                        {.features_per_channel = 2,
                                         .patches = {{0}, {1}},
                                         .patch_of = {1, 0},
                                         .values = {1, 2, 3, 4}},
                                        {{0, 2, 3}, {2, 3, 0}, {1, 1, 0.5}});
}

TEST(LocalFeatures, AreThoseOfTheChannelsOfASpike) {
    const spike_features features = half_known();
    EXPECT_TRUE(features.is_local());
    EXPECT_EQ(features.size(), 2U);
    EXPECT_EQ(features.dense_values(), (std::vector<double>{0, 0, 1, 2, 3, 4, 0, 0}));
    EXPECT_FALSE(features.is_known(0, 1));
    EXPECT_TRUE(features.is_known(0, 2));
    EXPECT_EQ(features.value(0, 1), 0);
    EXPECT_EQ(features.value(0, 3), 2);
    std::vector<std::size_t> known;
    features.for_each_known(1, [&](std::size_t i, double value) {
        known.push_back(i);
        EXPECT_EQ(value, 3 + static_cast<double>(i));
    });
    EXPECT_EQ(known, (std::vector<std::size_t>{0, 1}));

    const std::vector<std::uint32_t> second{1};
    const spike_features selected = select_spikes(features, second);
    EXPECT_EQ(selected.dense_values(), (std::vector<double>{3, 4, 0, 0}));
    EXPECT_EQ(selected.masks(), (spike_masks{{0, 1}, {0}, {0.5}}));
}

TEST(LocalFeatures, AreRefusedIfTheirPartsDoNotFit) {
    const auto refusal = [](local_values values, spike_masks masks = {{0, 0}, {}, {}}) {
        return text_of(
            [&] { spike_features::known_around(4, std::move(values), std::move(masks)); });
    };
    const auto of = [](lists patches, std::vector<std::uint32_t> patch_of,
                       std::vector<float> values) {
        return local_values{2, std::move(patches), std::move(patch_of), std::move(values)};
    };
    EXPECT_NO_THROW(spike_features::known_around(4, of({{1}}, {0}, {1, 2}), {{0, 0}, {}, {}}));
    EXPECT_SAYS(refusal(of({}, {0}, {1, 2})), "in 0 lists");
    EXPECT_SAYS(refusal(of({{1, 0}}, {0}, {1, 2, 3, 4})), "list 0 of channels");
    EXPECT_SAYS(refusal(of({{1}, {0, 1}}, {0}, {1, 2})), "list 1 of channels");
    EXPECT_SAYS(refusal(of({{2}}, {0}, {1, 2})), "list 0 of channels");
    EXPECT_SAYS(refusal(of({{1}}, {1}, {1, 2})), "list 1 of 1");
    EXPECT_SAYS(refusal(of({{1}}, {0}, {1})), "1 values");
    EXPECT_SAYS(refusal(of({{1}}, {}, {1, 2})), "lists of 0");
    EXPECT_SAYS(refusal(of({{1}}, {0}, {1, std::numeric_limits<float>::infinity()})), "not finite");
    EXPECT_SAYS(refusal(of({{1}}, {0}, {1, 2}), {{0, 1}, {1}, {1}}), "not known");
    EXPECT_SAYS(text_of([] {
                    spike_features::known_around(3, {2, {{0}}, {0}, {1, 2}}, {{0, 0}, {}, {}});
                }),
                "3 features");
}

TEST(LocalFeatures, OfAllChannelsAreSortedAsOthers) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const spike_cloud made =
            rounded_cloud({.spikes = 600, .units = 4, .channels = 6, .seed = seed});
        const spike_features local = known_on(made.features, 3, {{0, 1, 2, 3, 4, 5}},
                                              std::vector<std::uint32_t>(made.features.size()));
        const clustering_result expected = sort_spikes(made.features);
        const clustering_result found = sort_spikes(local);
        EXPECT_EQ(found.labels, expected.labels) << seed;
        EXPECT_EQ(found.score(), expected.score()) << seed;

        const std::vector<recording_channel> channels(6);
        EXPECT_EQ(cluster_by_channel(local, channels).labels,
                  cluster_by_channel(made.features, channels).labels);

        const sorting sorted{.labels = expected.labels, .unit_count = expected.units};
        const auto quality = measure_quality(local, sorted);
        const auto expected_quality = measure_quality(made.features, sorted);
        for (std::size_t u = 0; u < quality.size(); ++u) {
            EXPECT_EQ(quality[u].l_ratio, expected_quality[u].l_ratio) << seed;
            EXPECT_EQ(quality[u].isolation_distance, expected_quality[u].isolation_distance)
                << seed;
        }
    }
}

// The value 0 of a feature that is not known is not a measurement.
TEST(LocalFeatures, ShowTheNoiseOfTheSpikesOfWhichTheyAreKnown) {
    const spike_cloud made = rounded_cloud({.spikes = 500, .units = 4, .channels = 4, .seed = 5});
    const lists patches{{0, 1}, {2, 3}};
    std::vector<std::uint32_t> patch_of;
    for (std::uint32_t n = 0; n < made.features.size(); ++n) patch_of.push_back(n % 2);
    const feature_space found = measure_space(known_on(made.features, 3, patches, patch_of), {});
    for (std::uint32_t side = 0; side < 2; ++side) {
        std::vector<std::uint32_t> spikes;
        for (std::uint32_t n = side; n < made.features.size(); n += 2) spikes.push_back(n);
        const feature_space expected = measure_space(select_spikes(made.features, spikes), {});
        for (std::size_t i = 6 * side; i < 6 * (side + 1); ++i) {
            EXPECT_EQ(found.low[i], expected.low[i]);
            EXPECT_EQ(found.range[i], expected.range[i]);
            EXPECT_EQ(found.noise.mean[i], expected.noise.mean[i]);
            EXPECT_EQ(found.noise.variance[i], expected.noise.variance[i]);
        }
    }
}

TEST(LocalFeatures, OfSpikesFarAwayAreNotCompared) {
    // Units on the channels 0 and 1, and spikes on the channels 2 and 3 of which these are unknown.
    const spike_cloud made = rounded_cloud({.spikes = 400, .units = 2, .channels = 2, .seed = 6});
    std::vector<double> values = made.features.dense_values();
    const std::size_t near = made.features.size();
    local_values local{.features_per_channel = 3, .patches = {{0, 1}, {2, 3}}};
    local.values.assign(values.begin(), values.end());
    local.patch_of.assign(near, 0);
    spike_masks masks = made.features.masks();
    sorting sorted{.labels = made.truth, .unit_count = 3};
    for (std::size_t n = 0; n < 300; ++n) {
        local.patch_of.push_back(1);
        for (int i = 0; i < 6; ++i) local.values.push_back(static_cast<float>(n % 7) - 3);
        masks.append(std::vector<double>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
        sorted.labels.push_back(3);
    }
    const auto found = measure_quality(
        spike_features::known_around(12, std::move(local), std::move(masks)), sorted);
    const auto expected = measure_quality(made.features, {.labels = made.truth, .unit_count = 2});
    for (std::size_t u = 0; u < 2; ++u) {
        ASSERT_TRUE(expected[u].l_ratio);
        EXPECT_EQ(found[u].l_ratio, expected[u].l_ratio);
        EXPECT_EQ(found[u].isolation_distance, expected[u].isolation_distance);
    }
}

TEST(LocalFeatures, AreNotTakenByTheReference) {
    EXPECT_THROW(sort_spikes(half_known(), {.strategy = sort_strategy::reference}),
                 invalid_argument);
}

}  // namespace
}  // namespace spikeweave
