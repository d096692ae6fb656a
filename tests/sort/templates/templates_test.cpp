#include "spikeweave/sort/templates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "sort/templates/explained_units.hpp"
#include "sort/templates/mixed_units.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/sample_source.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/sort/detected_features.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "support/error_text.hpp"
#include "support/ground_truth.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// A short recording whose spikes are detected and clustered once for all tests.
struct clustered {
    simulated_recording made;
    spike_features features{};
    sorting clusters{};
    std::vector<spike_samples> truth{};

    explicit clustered(std::uint32_t channels)
        : made(simulate_recording({.channels = channels,
                                   .length = is_shortened_run() ? 5s : 12s,
                                   .units = 4,
                                   .low_hz = 6,
                                   .seed = 3})) {
        const detection_result found = detect_spikes(made.traces);
        features = to_features(found);
        const clustering_result search =
            sort_spikes(features, {.deletions = cluster_deletions::all});
        clusters = {.labels = search.labels,
                    .unit_count = search.units,
                    .samples = found.frames,
                    .sample_rate = 30000,
                    .sample_count = static_cast<std::int64_t>(made.traces.frame_count()),
                    .fractions = found.fractions};
        truth.resize(4);
        const spike_sequence& spikes = made.truth.spikes;
        for (std::size_t n = 0; n < spikes.size(); ++n)
            truth[to_index(spikes.units()[n])].push_back(spikes.times_us()[n] * 3 / 100);
    }

    template_sorting sort(const template_options& options = {}, int threads = 0) const {
        return sort_by_templates(made.traces, features, 3, clusters, {}, options,
                                 {.threads = threads});
    }
    double accuracy(const sorting& of) const {
        const auto each = accuracies(truth, trains_of(of.samples, of.labels), 12);
        double sum = 0;
        for (const double x : each) sum += x;
        return sum / static_cast<double>(each.size());
    }
};

const clustered& example() {
    static const clustered made(8);
    return made;
}

const template_sorting& example_sorted() {
    static const template_sorting sorted = example().sort({}, 1);
    return sorted;
}

TEST(SortByTemplates, FindsTheUnits) {
    const template_sorting& found = example_sorted();
    if (!is_shortened_run()) {
        EXPECT_GT(example().accuracy(found.sorted), 0.97);
        EXPECT_GE(example().accuracy(found.sorted), example().accuracy(example().clusters));
        EXPECT_EQ(found.sorted.unit_count, 4U);
    }
    EXPECT_TRUE(std::ranges::is_sorted(found.sorted.samples));
    EXPECT_EQ(found.amplitudes.size(), found.sorted.labels.size());
    EXPECT_EQ(found.peak_channels.size(), found.sorted.unit_count);
}

TEST(SortByTemplates, PutsTheTimesOfSpikesAtTheirTroughs) {
    sorting early = example().clusters;
    for (std::size_t n = 0; n < early.samples.size(); ++n)
        if (early.labels[n] == 1)
            early.samples[n] = std::max<std::int64_t>(0, early.samples[n] - 15);
    const template_sorting found =
        sort_by_templates(example().made.traces, example().features, 3, early, {}, {}, {});
    const double expected = example().accuracy(example_sorted().sorted);
    EXPECT_NEAR(example().accuracy(found.sorted), expected, 0.02);
}

TEST(SortByTemplates, IsTheSameForAnyNumberOfThreads) {
    const template_sorting& one = example_sorted();
    const template_sorting many = example().sort({}, 5);
    EXPECT_EQ(one.sorted, many.sorted);
    EXPECT_EQ(one.amplitudes, many.amplitudes);
}

TEST(SortByTemplates, IsTheSameIfTracesAreFilteredAgain) {
    const template_sorting& expected = example_sorted();
    for (const std::uint64_t kept : {3'000'000, 0}) {  // about half of the blocks, or none
        const template_sorting found = example().sort({.kept_traces_bytes = kept}, 2);
        EXPECT_EQ(found.sorted, expected.sorted) << kept;
        EXPECT_EQ(found.amplitudes, expected.amplitudes) << kept;
        if (is_shortened_run()) break;
    }
}

// Clusters that are missing in the table would be lost without a word.
TEST(SortByTemplates, SaysWhatBecameOfEveryCluster) {
    const template_sorting& found = example_sorted();
    std::map<std::uint32_t, int> ends;
    std::uint32_t kept = 0;
    for (const cluster_decision& one : found.decisions) {
        EXPECT_FALSE(one.reason.empty());
        if (one.fate == cluster_fate::split) {
            EXPECT_GE(one.distance.value_or(0), 3);
            continue;
        }
        ++ends[one.cluster];
        if (one.fate == cluster_fate::kept) {
            EXPECT_EQ(one.other, ++kept);
        }
    }
    EXPECT_EQ(kept, found.sorted.unit_count);
    for (std::uint32_t cluster = 1; cluster <= example().clusters.unit_count; ++cluster)
        EXPECT_EQ(ends[cluster], 1) << "cluster " << cluster;
    for (const auto& [cluster, count] : ends) EXPECT_EQ(count, 1) << "cluster " << cluster;
}

// The spikes of a neuron that has no cluster are left in the traces by the templates of the others.
TEST(SortByTemplates, FindsAUnitThatHasNoCluster) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const clustered of(24);  // far apart, so that no template takes the spikes of another unit
    sorting without = of.clusters;
    std::map<std::uint32_t, std::size_t> counts;
    for (std::size_t n = 0; n < without.labels.size(); ++n) {
        const auto at = std::ranges::lower_bound(of.truth[3], without.samples[n] - 12);
        if (at != of.truth[3].end() && *at <= without.samples[n] + 12) without.labels[n] = 0;
        ++counts[without.labels[n]];
    }
    // Nor are there clusters of noise, whose templates would find its spikes.
    for (std::uint32_t& label : without.labels)
        if (counts[label] < 50) label = 0;

    const template_sorting found = sort_by_templates(of.made.traces, of.features, 3, without, {});
    EXPECT_EQ(found.sorted.unit_count, 4U);
    EXPECT_GT(of.accuracy(found.sorted), 0.97);
    const template_sorting many =
        sort_by_templates(of.made.traces, of.features, 3, without, {}, {}, {.threads = 5});
    EXPECT_EQ(found.sorted, many.sorted);
    const template_sorting alone = sort_by_templates(of.made.traces, of.features, 3, without, {},
                                                     {.merge = unit_merges::none});
    EXPECT_LT(of.accuracy(alone.sorted), 0.8);
}

// A recording with one more unit, whose spikes are small on every channel.
class with_wide_unit final : public sample_source {
public:
    with_wide_unit(const recording& others, spike_samples spikes, double peak_uv,
                   double centre_um = 0, double reach_um = 100)
        : others_(others),
          spikes_(std::move(spikes)),
          peak_uv_(peak_uv),
          centre_um_(centre_um),
          reach_um_(reach_um) {}

    std::uint64_t frame_count() const override { return others_.frame_count(); }
    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        others_.read(first, into);
        const std::span<const recording_channel> channels = others_.channels();
        const auto begin = static_cast<std::int64_t>(first);
        const auto end = begin + static_cast<std::int64_t>(into.size() / channels.size());
        for (const std::int64_t at : spikes_)
            for (std::int64_t f = std::max(begin, at - 30); f < std::min(end, at + 60); ++f)
                for (std::size_t c = 0; c < channels.size(); ++c) {
                    const double t = static_cast<double>(f - at);
                    const double shape =
                        0.3 * std::exp(-(t - 14) * (t - 14) / 128) - std::exp(-t * t / 18);
                    const double y = (channels[c].y_um - channels[0].y_um - centre_um_) / reach_um_;
                    const double steps =
                        peak_uv_ * shape * std::exp(-y * y / 2) / channels[c].gain_uv;
                    std::int16_t& sample =
                        into[static_cast<std::size_t>(f - begin) * channels.size() + c];
                    sample = static_cast<std::int16_t>(sample + std::lround(steps));
                }
    }

private:
    const recording& others_;
    spike_samples spikes_;
    double peak_uv_;
    double centre_um_;
    double reach_um_;
};

// No channel alone distinguishes enough of its spikes from noise.
TEST(SortByTemplates, FindsASmallUnitThatReachesManyChannels) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const clustered of(24);
    spike_samples wide;
    for (std::int64_t at = 1000; at < 355'000; at += 1'700 + at * 7919 % 600) wide.push_back(at);
    const recording both(of.made.traces.description(),
                         std::make_shared<with_wide_unit>(of.made.traces, wide, 12));

    const template_sorting found = sort_by_templates(both, of.features, 3, of.clusters, {}, {}, {});

    ASSERT_GE(found.sorted.unit_count, 5U);
    spike_samples late;  // those of units that the clusters did not have, one of them or two
    for (std::size_t n = 0; n < found.sorted.labels.size(); ++n)
        if (found.sorted.labels[n] > 4) late.push_back(found.sorted.samples[n]);
    EXPECT_GT(accuracies(std::vector<spike_samples>{wide}, {late}, 12)[0], 0.9);
    EXPECT_GT(of.accuracy(found.sorted), 0.95);
}

// Traces of noise alone, of small units.
simulated_recording noise_of_12_s() {
    return simulate_recording(
        {.channels = 8, .length = 12s, .units = 1, .low_uv = 1, .high_uv = 2, .seed = 5});
}

// Spikes of two neurons at about the same time, at lags that vary, are mistaken for a third one,
// whose template explains more of them than that of either neuron, but not more than both together.
TEST(FindExplainedUnits, TellsTheMeanOfCollisionsFromNeurons) {
    using namespace templates;
    const simulated_recording quiet = noise_of_12_s();
    std::vector<spike_samples> spikes(3);
    std::vector<template_spike> clusters;
    spike_samples second;  // all of the second neuron
    for (std::int64_t at = 600; at < 355'000; at += 400 + at * 7919 % 90) {
        const auto n = static_cast<std::int64_t>(second.size());
        const bool collides = n % 25 == 0;
        const std::int64_t other = at + (collides ? n / 25 * 5 % 9 + 2 : 150 + at * 104'729 % 90);
        spikes[0].push_back(at);
        second.push_back(other);
        clusters.push_back({.frame = at, .unit = collides ? 2U : 0U});
        if (!collides) clusters.push_back({.frame = other, .unit = 1});
    }
    const recording one(quiet.traces.description(),
                        std::make_shared<with_wide_unit>(quiet.traces, spikes[0], 90, 0, 25));
    const recording both(quiet.traces.description(),
                         std::make_shared<with_wide_unit>(one, second, 80, 60, 25));
    const template_traces traces(filtered_recording(both, {.whiten = true}, {}), {30, 60},
                                 1'000'000'000, {});
    const std::vector<template_place> places =
        template_places(both, std::vector<std::uint32_t>{0, 6, 0});
    std::vector<matched_filter> filters;
    for (const unit_template& each : average_templates(traces, clusters, places, {}, {}))
        filters.push_back(filter_of(each));
    measure_noise(traces, filters, false, {});
    match_plan plan(filters, {}, {});
    const std::vector<template_spike> found = match_templates(traces, plan, {}).spikes;
    ASSERT_GE(std::ranges::count(found, 2U, &template_spike::unit), 20) << "the case is too easy";
    plan.rule.fit_together = true;
    const std::vector<std::optional<residual_traces>> first_clusters(3);

    EXPECT_EQ(
        find_explained_units(
            traces, plan, {.spikes = found, .found_late = first_clusters, .least_spikes = 20}, {}),
        (std::vector<char>{0, 0, 1}));
}

// The template of few spikes of a large neuron would explain all others of it.
TEST(FindExplainedUnits, KeepsANeuronThatFewOfItsSpikesExplain) {
    using namespace templates;
    const simulated_recording quiet = noise_of_12_s();
    spike_samples all;
    std::vector<template_spike> spikes;
    for (std::int64_t at = 600; at < 355'000; at += 400) {
        spikes.push_back({.frame = at, .unit = all.size() % 100 == 0 ? 1U : 0U});
        all.push_back(at);
    }
    const recording neuron(quiet.traces.description(),
                           std::make_shared<with_wide_unit>(quiet.traces, all, 90, 0, 25));
    const template_traces traces(filtered_recording(neuron, {.whiten = true}, {}), {30, 60},
                                 1'000'000'000, {});
    const std::vector<template_place> places =
        template_places(neuron, std::vector<std::uint32_t>{0, 0});
    std::vector<matched_filter> filters;
    for (const unit_template& each : average_templates(traces, spikes, places, {}, {}))
        filters.push_back(filter_of(each));
    measure_noise(traces, filters, false, {});
    const match_plan plan(filters, {.fit_together = true}, {});
    const std::vector<std::optional<residual_traces>> late(2, residual_traces::channels);

    EXPECT_EQ(find_explained_units(traces, plan,
                                   {.spikes = spikes, .found_late = late, .least_spikes = 20}, {}),
              (std::vector<char>{0, 0}));
}

// Units of spikes of a neuron at 20 um, and of another one, or other spikes, beside it.
std::vector<templates::mixed_unit> mixed_units_of(const std::array<spike_samples, 2>& spikes,
                                                  double apart_um, double second_uv = 90) {
    using namespace templates;
    const simulated_recording quiet = noise_of_12_s();
    std::vector<template_spike> all;
    for (const spike_samples& each : spikes)
        for (const std::int64_t at : each) all.push_back({.frame = at});
    std::ranges::sort(all, {}, &template_spike::frame);
    const recording one(quiet.traces.description(),
                        std::make_shared<with_wide_unit>(quiet.traces, spikes[0], 90, 20, 25));
    const recording both(
        quiet.traces.description(),
        std::make_shared<with_wide_unit>(one, spikes[1], second_uv, 20 + apart_um, 25));
    const template_traces traces(filtered_recording(both, {.whiten = true}, {}), {30, 60},
                                 1'000'000'000, {});
    const std::vector<template_place> places = template_places(both, std::vector<std::uint32_t>{1});
    const std::vector<matched_filter> filters{
        filter_of(average_templates(traces, all, places, {}, {}).front())};
    return find_mixed_units(traces, all, filters, {.threads = 3});
}

// Where no spikes are near each other, the groups of remainders have to be farther apart.
TEST(FindMixedUnits, FindsTwoNeuronsThatNeverFireTogether) {
    std::mt19937_64 random(4);
    std::array<spike_samples, 2> spikes;
    for (std::int64_t at = 600; at < 355'000; at += 450) spikes[random() % 2].push_back(at);
    EXPECT_TRUE(mixed_units_of(spikes, 0).empty());
    EXPECT_TRUE(mixed_units_of(spikes, 0, 60).empty()) << "one neuron of two sizes";
    EXPECT_EQ(mixed_units_of(spikes, 8).size(), 1U);
}

TEST(FindMixedUnits, LeavesTheSecondSpikesOfBurstsWithTheFirst) {
    std::mt19937_64 random(4);
    std::array<spike_samples, 2> spikes;
    for (std::int64_t at = 600; at < 355'000; at += 450) {
        spikes[0].push_back(at);
        if (random() % 2 == 0) spikes[1].push_back(at + 120);
    }
    EXPECT_TRUE(mixed_units_of(spikes, 16).empty());
}

TEST(FindMixedUnits, LeavesANeuronWhoseWaveformChanges) {
    std::array<spike_samples, 2> spikes;
    for (std::int64_t at = 600; at < 355'000; at += 900) spikes[at < 180'000 ? 0 : 1].push_back(at);
    EXPECT_TRUE(mixed_units_of(spikes, 16).empty());
}

// Two neurons whose templates are nearly the same are told apart by what their mean leaves of each.
TEST(FindMixedUnits, FindsTwoNeuronsThatFireTogether) {
    std::mt19937_64 random(4);
    std::array<spike_samples, 2> spikes;
    spike_samples all;
    for (spike_samples& each : spikes)
        for (std::int64_t at = 600; at < 355'000;
             at += 120 + static_cast<std::int64_t>(random() % 1'400))
            each.push_back(at);
    for (const spike_samples& each : spikes) all.insert(all.end(), each.begin(), each.end());
    std::ranges::sort(all);
    EXPECT_TRUE(mixed_units_of(spikes, 0).empty());
    const std::vector<templates::mixed_unit> found = mixed_units_of(spikes, 8);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_GT(found.front().distance, 3);
    std::vector<spike_samples> parts;
    for (const std::vector<std::uint32_t>& each : found.front().spikes) {
        parts.emplace_back();
        for (const std::uint32_t n : each) parts.back().push_back(all[n]);
    }
    for (const spike_samples& part : parts) {
        std::array<std::size_t, 2> of{};
        for (const std::int64_t at : part)
            for (std::size_t k = 0; k < 2; ++k)
                of[k] += static_cast<std::size_t>(std::ranges::binary_search(spikes[k], at));
        EXPECT_GT(std::ranges::max(of), part.size() * 9 / 10);
    }
}

// The trough that is detected follows the peak, which is three times as large.
TEST(SortByTemplates, PutsTheTimesOfPositiveSpikesAtTheirPeaks) {
    const simulated_recording quiet = noise_of_12_s();
    spike_samples upward;
    for (std::int64_t at = 1000; at < 355'000; at += 1'100 + at * 7919 % 600) upward.push_back(at);
    const recording both(quiet.traces.description(),
                         std::make_shared<with_wide_unit>(quiet.traces, upward, -250, 40, 25));
    const detection_result detected = detect_spikes(both);
    const spike_features features = to_features(detected);
    const clustering_result search = sort_spikes(features, {.deletions = cluster_deletions::all});
    const sorting clusters{.labels = search.labels,
                           .unit_count = search.units,
                           .samples = detected.frames,
                           .sample_rate = 30000,
                           .sample_count = static_cast<std::int64_t>(both.frame_count()),
                           .fractions = detected.fractions};
    const std::vector<spike_samples> truth{upward};
    const auto accuracy = [&](const sorting& of) {
        return accuracies(truth, trains_of(of.samples, of.labels), 5)[0];
    };
    ASSERT_LT(accuracy(clusters), 0.1);
    EXPECT_GT(accuracy(sort_by_templates(both, features, 3, clusters, {}).sorted), 0.95);
}

TEST(SortByTemplates, LeavesClustersAloneIfAsked) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const template_sorting found = example().sort({.merge = unit_merges::none});
    for (const cluster_decision& one : found.decisions)
        EXPECT_TRUE(one.fate == cluster_fate::kept ||
                    one.reason == "its template is found nowhere");
}

TEST(SortByTemplates, RefusesWhatItCannotUse) {
    const clustered& of = example();
    EXPECT_THROW(of.sort({.match_threshold = 0}), invalid_argument);
    EXPECT_THROW(of.sort({.least_amplitude = 2}), invalid_argument);
    EXPECT_THROW(sort_by_templates(of.made.traces, of.features, 5, of.clusters, {}),
                 invalid_argument);
    sorting fewer = of.clusters;
    fewer.labels.pop_back();
    EXPECT_THROW(sort_by_templates(of.made.traces, of.features, 3, fewer, {}), invalid_argument);
}

// Spikes that are described at the places of the detection have its features.
TEST(DescribeSpikes, GivesTheFeaturesOfTheDetection) {
    const recording& traces = example().made.traces;
    const detection_result found = detect_spikes(traces);
    detection_options options;
    options.basis = found.basis;
    const detection_result again = describe_spikes(traces,
                                                   {.frames = found.frames,
                                                    .fractions = found.fractions,
                                                    .peak_channels = found.peak_channels},
                                                   options);
    EXPECT_EQ(again.features, found.features);
    EXPECT_EQ(again.size(), found.size());
    EXPECT_EQ(again.mask_offsets.size(), found.mask_offsets.size());
    for (std::size_t n = 0; n < again.size(); ++n) {
        bool has_peak = false;
        for (std::size_t i = again.mask_offsets[n]; i < again.mask_offsets[n + 1]; ++i)
            has_peak = has_peak ||
                       (again.mask_channels[i] == found.peak_channels[n] && again.masks[i] == 1.0F);
        ASSERT_TRUE(has_peak) << "spike " << n;
    }
}

TEST(DescribeSpikes, RefusesSpikesThatAreNotInTheRecording) {
    const recording& traces = example().made.traces;
    detection_options options;
    const std::vector<std::int64_t> frames{static_cast<std::int64_t>(traces.frame_count())};
    const std::vector<float> fractions{0};
    const std::vector<std::uint32_t> channels{0};
    const known_spikes spikes{frames, fractions, channels};
    EXPECT_THROW(describe_spikes(traces, spikes, options), invalid_argument);
    options.basis = detect_spikes(traces).basis;
    EXPECT_THROW(describe_spikes(traces, spikes, options), invalid_argument);
    EXPECT_THROW(describe_spikes(traces, {.frames = frames}, options), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
