#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/templates.hpp"
#include "support/error_text.hpp"

namespace spikeweave {
namespace {

constexpr std::size_t channel_count = 4;
constexpr std::size_t width = 2;  // features of each channel

std::vector<recording_channel> channels_in_line(double apart_um) {
    std::vector<recording_channel> out(channel_count);
    for (std::size_t c = 0; c < channel_count; ++c) out[c].y_um = apart_um * static_cast<double>(c);
    return out;
}

struct made_spikes {
    spike_features features{};
    std::vector<std::uint32_t> units{};
};

// Two units on the first channel and one on the third, with noise of 1 around their means.
made_spikes spikes_of_three_units(std::size_t each) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> noise;
    const double means[3][channel_count] = {{-30, -5, 0, 0}, {-18, -14, 0, 0}, {0, -4, -20, -4}};
    std::vector<double> values;
    std::vector<double> masks;
    made_spikes out;
    for (std::size_t n = 0; n < 3 * each; ++n) {
        const auto unit = static_cast<std::uint32_t>(n % 3);
        out.units.push_back(unit);
        for (std::size_t c = 0; c < channel_count; ++c)
            for (std::size_t k = 0; k < width; ++k) {
                values.push_back((k == 0 ? means[unit][c] : 0) + noise(random));
                masks.push_back(means[unit][c] == 0 ? 0 : 1);
            }
    }
    const std::size_t features = channel_count * width;
    out.features =
        spike_features(features, std::move(values), spike_masks::of_rows(masks, features));
    return out;
}

TEST(ClusterByChannel, DoesNotMixUnits) {
    const made_spikes made = spikes_of_three_units(200);
    const clustering_result found = cluster_by_channel(made.features, channels_in_line(20));
    EXPECT_EQ(found.stopped, stop_reason::by_channel);
    EXPECT_TRUE(found.iterations.empty());
    std::map<std::uint32_t, std::set<std::uint32_t>> units;
    for (std::size_t n = 0; n < made.units.size(); ++n)
        if (found.labels[n] > 0) units[found.labels[n]].insert(made.units[n]);
    EXPECT_EQ(units.size(), found.units);
    EXPECT_GE(found.units, 3U);
    for (const auto& [cluster, of] : units) EXPECT_EQ(of.size(), 1U) << "cluster " << cluster;
}

TEST(ClusterByChannel, GivesTheSameOnAnyNumberOfThreads) {
    const made_spikes made = spikes_of_three_units(150);
    const auto labels = [&](int threads) {
        return cluster_by_channel(made.features, channels_in_line(20), {}, {.threads = threads})
            .labels;
    };
    EXPECT_EQ(labels(1), labels(3));
}

TEST(ClusterByChannel, KeepsFewSpikesTogether) {
    const made_spikes made = spikes_of_three_units(9);
    const clustering_result found = cluster_by_channel(made.features, channels_in_line(20));
    for (std::size_t n = 0; n < made.units.size(); ++n)
        EXPECT_EQ(found.labels[n], made.units[n] == 2 ? 2U : 1U);
}

TEST(ClusterByChannel, RefusesOtherSizes) {
    const made_spikes made = spikes_of_three_units(9);
    const std::vector<recording_channel> three(3);
    EXPECT_EQ(text_of([&] { cluster_by_channel(made.features, three); }),
              "8 features of 3 channels");
}

}  // namespace
}  // namespace spikeweave
