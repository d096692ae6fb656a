#include "spikeweave/sort/online.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "support/damaged_files.hpp"
#include "support/error_text.hpp"
#include "support/ground_truth.hpp"
#include "support/learned_templates.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// The templates of the first part of a recording, and the second part.
struct example {
    simulated_recording made = simulate_recording({.channels = 8,
                                                   .length = is_shortened_run() ? 14s : 30s,
                                                   .units = 5,
                                                   .low_hz = 8,
                                                   .seed = 21});
    std::uint64_t half = made.traces.frame_count() / 2;
    recording later = part_of(made.traces, half, made.traces.frame_count() - half);
    template_set set = *sort_whole(part_of(made.traces, 0, half), true).learned;

    std::vector<std::int16_t> samples() const {
        std::vector<std::int16_t> out(later.frame_count() * later.channel_count());
        later.read(0, out);
        return out;
    }
    double accuracy(const spike_samples& times, const std::vector<std::uint32_t>& labels) const {
        std::vector<spike_samples> truth(5);
        const spike_sequence& spikes = made.truth.spikes;
        const auto first = static_cast<std::int64_t>(half);
        for (std::size_t n = 0; n < spikes.size(); ++n)
            if (const std::int64_t frame = spikes.times_us()[n] * 3 / 100; frame >= first)
                truth[to_index(spikes.units()[n])].push_back(frame - first);
        double sum = 0;
        for (const double one : accuracies(truth, trains_of(times, labels), 12)) sum += one;
        return sum / 5;
    }
};

const example& shared_example() {
    static const example made;
    return made;
}

void append(std::vector<template_spike>& to, const std::vector<template_spike>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::vector<template_spike> sort_in_pieces(const template_set& set, const recording& of,
                                           std::span<const std::int16_t> samples,
                                           const auto& next_size, int threads = 1) {
    online_sorter sorter(set, of.description());
    std::vector<template_spike> out;
    for (std::size_t at = 0; at < samples.size();) {
        const std::size_t count =
            std::min(samples.size() - at, of.channel_count() * std::size_t{next_size()});
        append(out, sorter.add(samples.subspan(at, count), {.threads = threads}));
        at += count;
    }
    append(out, sorter.finish());
    return out;
}

TEST(OnlineSorter, FindsTheSameSpikesInPiecesOfAnySizeOnAnyNumberOfThreads) {
    const example& from = shared_example();
    const std::vector<std::int16_t> samples = from.samples();
    const auto in_pieces_of = [&](const auto& next_size, int threads) {
        return sort_in_pieces(from.set, from.later, samples, next_size, threads);
    };
    const auto whole = in_pieces_of([&] { return samples.size(); }, 1);
    ASSERT_GT(whole.size(), 300U);
    EXPECT_TRUE(std::ranges::is_sorted(whole, {}, &template_spike::frame));
    std::mt19937 random(5);
    EXPECT_EQ(in_pieces_of([&] { return 1 + random() % 100; }, 1), whole);
    EXPECT_EQ(in_pieces_of([&] { return 8192U; }, 3), whole);
    EXPECT_EQ(in_pieces_of([] { return 30U; }, 2), whole);
    if (!is_shortened_run()) {
        EXPECT_EQ(in_pieces_of([] { return 1U; }, 1), whole);
    }
}

TEST(OnlineSorter, FindsNearlyTheSpikesOfABatch) {
    const example& from = shared_example();
    spike_samples times;
    std::vector<std::uint32_t> labels;
    for (const template_spike& spike :
         sort_in_pieces(from.set, from.later, from.samples(), [] { return 512U; })) {
        times.push_back(spike.frame);
        labels.push_back(spike.unit + 1);
    }
    const template_sorting batch = sort_whole(from.later, false);
    EXPECT_FALSE(batch.learned);
    EXPECT_GT(from.accuracy(times, labels),
              from.accuracy(batch.sorted.samples, batch.sorted.labels) - 0.02);
    EXPECT_GT(from.accuracy(times, labels), 0.95);
}

TEST(OnlineSorter, DecidesABlockWhenItsSamplesAndTheFewAfterItAreThere) {
    const example& from = shared_example();
    const std::vector<std::int16_t> samples = from.samples();
    online_sorter sorter(from.set, from.later.description());
    ASSERT_EQ(sorter.latency_frames(), 30U + 2 + 60);  // 1 ms, a margin, and 2 ms of a template
    const std::size_t channels = from.later.channel_count();
    const std::size_t needed = 30 + sorter.latency_frames();
    sorter.add(std::span{samples}.first((needed - 1) * channels));
    EXPECT_EQ(sorter.decided_frames(), 0);
    sorter.add(std::span{samples}.subspan((needed - 1) * channels, channels));
    EXPECT_EQ(sorter.decided_frames(), 30);
    sorter.add(std::span{samples}.subspan(needed * channels, 100 * channels));
    EXPECT_EQ(sorter.decided_frames(), 30 * 4);
}

// A recording in which units begin to move after the part that templates are made of.
struct drifting_example {
    simulated_recording made = simulate_recording({.channels = 16,
                                                   .length = is_shortened_run() ? 26s : 46s,
                                                   .units = 5,
                                                   .low_hz = 10,
                                                   .high_hz = 20,
                                                   .drift_um = is_shortened_run() ? 8.0 : 24.0,
                                                   .drift_start = 12s,
                                                   .seed = 21});
    template_set set = *sort_whole(part_of(made.traces, 0, 12 * 30'000), true).learned;
    probe_motion follows = unmoved(made.traces.description(), motion_model::rigid);

    struct found {
        std::vector<template_spike> spikes{};
        probe_motion motion{};
        double accuracy = 0;  // after the units have begun to move
    };
    found sorted(const probe_motion& known, const auto& next_size, int threads = 1,
                 std::uint64_t first = 0) const {
        online_sorter sorter(set, made.traces.description(), known);
        found out;
        std::vector<std::int16_t> samples;
        while (first < made.traces.frame_count()) {
            const auto count =
                std::min<std::uint64_t>(made.traces.frame_count() - first, next_size());
            samples.resize(count * made.traces.channel_count());
            made.traces.read(first, samples);
            append(out.spikes, sorter.add(samples, {.threads = threads}));
            first += count;
        }
        append(out.spikes, sorter.finish());
        out.motion = sorter.motion();
        out.accuracy = accuracy_of(out.spikes);
        return out;
    }

private:
    double accuracy_of(const std::vector<template_spike>& spikes) const {
        spike_samples times;
        std::vector<std::uint32_t> labels;
        for (const template_spike& spike : spikes) {
            if (spike.frame < 12 * 30'000) continue;
            times.push_back(spike.frame);
            labels.push_back(spike.unit + 1);
        }
        std::vector<spike_samples> truth(5);
        const spike_sequence& all = made.truth.spikes;
        for (std::size_t n = 0; n < all.size(); ++n)
            if (all.times_us()[n] >= 12'000'000)
                truth[to_index(all.units()[n])].push_back(all.times_us()[n] * 3 / 100);
        double sum = 0;
        for (const double one : accuracies(truth, trains_of(times, labels), 12)) sum += one;
        return sum / 5;
    }
};

TEST(OnlineSorter, FollowsSlowMotion) {
    const drifting_example from;
    const auto fixed = from.sorted({}, [] { return 8192U; });
    const auto whole = from.sorted(from.follows, [] { return 1U << 20U; });
    EXPECT_TRUE(fixed.motion.empty());
    // The motion of a shortened run costs no spike.
    EXPECT_GE(whole.accuracy, fixed.accuracy + (is_shortened_run() ? 0 : 0.05));
    const std::size_t bins = whole.motion.times_s.size();
    const double moved_um = whole.motion.displacement_um.back();
    EXPECT_NEAR(moved_um,
                from.made.truth.motion.back().um * (whole.motion.times_s.back() - 12) /
                    (to_seconds(from.made.traces.length()) - 12),
                5);

    std::mt19937 random(5);
    const auto pieces = from.sorted(
        from.follows, [&] { return 1 + random() % 5000; }, 3);
    EXPECT_EQ(pieces.spikes, whole.spikes);
    EXPECT_EQ(pieces.motion, whole.motion);

    // From two bins before, with the motion that is known.
    probe_motion known = from.follows;
    known.displacement_um = {whole.motion.displacement_um.end()[-3],
                             whole.motion.displacement_um.end()[-2]};
    known.times_s = {whole.motion.times_s[0], whole.motion.times_s[1]};
    const auto first = static_cast<std::int64_t>(
        std::llround(static_cast<double>(bins - 3) * known.time_bin_s * 30'000));
    auto again = from.sorted(
        known, [] { return 777U; }, 1, static_cast<std::uint64_t>(first));
    EXPECT_EQ(again.motion.displacement_um.back(), moved_um);
    auto tail = whole.spikes;
    for (template_spike& spike : again.spikes) spike.frame += first;
    for (auto* const spikes : {&tail, &again.spikes})
        std::erase_if(*spikes, [&](const template_spike& spike) {
            return spike.frame < first + static_cast<std::int64_t>(known.time_bin_s * 30'000);
        });
    EXPECT_EQ(again.spikes, tail);
}

TEST(OnlineSorter, FollowsNoMotionWhereThereIsNone) {
    const example& from = shared_example();
    const std::vector<std::int16_t> samples = from.samples();
    const auto sorted = [&](const probe_motion& known) {
        online_sorter sorter(from.set, from.later.description(), known);
        std::vector<template_spike> out = sorter.add(samples);
        append(out, sorter.finish());
        EXPECT_EQ(sorter.motion().range_um(), 0);
        return out;
    };
    EXPECT_EQ(sorted(unmoved(from.later.description(), motion_model::rigid)), sorted({}));
}

TEST(OnlineSorter, RefusesRecordingsOfAnotherKind) {
    const example& from = shared_example();
    recording_description other = from.later.description();
    other.rate_hz = 20000;
    EXPECT_NE(text_of([&] { online_sorter(from.set, other); }).find("20000 samples a second"),
              std::string::npos);
    other = from.later.description();
    std::swap(other.channels[0], other.channels[1]);
    EXPECT_THROW(online_sorter(from.set, other), invalid_argument);
    EXPECT_THROW(online_sorter({}, from.later.description()), invalid_argument);
    online_sorter sorter(from.set, from.later.description());
    EXPECT_THROW(sorter.add(std::vector<std::int16_t>(9)), invalid_argument);
}

TEST(OnlineSorter, LearnsNoTemplatesOfATissueThatMoves) {
    const example& from = shared_example();
    detection_options how;
    how.basis = from.set.basis();
    how.preprocessing.moved = std::make_shared<const probe_motion>(probe_motion{
        .model = motion_model::rigid, .times_s = {0.5}, .depths_um = {0}, .displacement_um = {3}});
    EXPECT_THROW(sort_by_templates(from.later, {}, 3, {}, how, {.learns_set = true}),
                 invalid_argument);
    EXPECT_THROW(sort_by_templates(from.later, {}, 3, {}, {}, {.learns_set = true}),
                 invalid_argument);
}

// Another recording of the same probe has other units.
TEST(OnlineSorter, TellsWhatNoTemplateExplains) {
    const example& from = shared_example();
    const auto unexplained_in = [&](const recording& traces, const auto& size) {
        std::vector<std::int16_t> samples(traces.frame_count() * traces.channel_count());
        traces.read(0, samples);
        online_sorter sorter(from.set, traces.description());
        std::vector<unexplained_detection> out;
        const auto take = [&] {
            const auto more = sorter.take_unexplained();
            out.insert(out.end(), more.begin(), more.end());
        };
        for (std::size_t at = 0; at < samples.size();) {
            const std::size_t count =
                std::min<std::size_t>(size() * traces.channel_count(), samples.size() - at);
            sorter.add(std::span{samples}.subspan(at, count));
            at += count;
            take();
        }
        sorter.finish();
        take();
        return out;
    };
    const auto other =
        simulate_recording({.channels = 8, .length = 10s, .units = 4, .low_hz = 10, .seed = 77});
    const auto whole = unexplained_in(other.traces, [] { return std::size_t{1} << 20U; });
    std::minstd_rand random(5);
    EXPECT_EQ(unexplained_in(other.traces, [&] { return 1 + random() % 900; }), whole);
    EXPECT_GT(whole.size(), 100U);
    EXPECT_LT(unexplained_in(from.later, [] { return 4096U; }).size(), 5U);
    std::size_t true_ones = 0;
    for (const unexplained_detection& each : whole) {
        EXPECT_GE(each.size, 6);
        const auto times = other.truth.spikes.times_us();
        const std::int64_t at_us = each.frame * 100 / 3;
        const auto near = std::ranges::lower_bound(times, at_us - 1000);
        true_ones += near != times.end() && *near <= at_us + 1000 ? 1 : 0;
    }
    EXPECT_GT(true_ones, whole.size() * 4 / 5);
    EXPECT_EQ(warning_of_unexplained(19, 10), "");
    EXPECT_EQ(warning_of_unexplained(100, 3600), "");
    EXPECT_TRUE(warning_of_unexplained(1'200, 60).starts_with(
        "1,200 detections are explained by no template, 1200 per minute"));
}

TEST(TemplateSets, FindTheSameSpikesWhenTheyAreReadBack) {
    const example& from = shared_example();
    const temporary_folder folder;
    const auto path = folder.path() / "rig.templates";
    write_templates(path, from.set);
    EXPECT_TRUE(read_templates(path).verdicts().empty());
    std::vector<unit_verdict> verdicts(from.set.unit_count());
    verdicts[1] = {unit_label::mua, "SNR 3.2 µV"};
    write_templates(path, from.set.with_verdicts(verdicts));
    EXPECT_THROW(from.set.with_verdicts({}), invalid_argument);
    const template_set read = read_templates(path);
    EXPECT_EQ(read.verdicts(), verdicts);
    EXPECT_EQ(read.basis(), from.set.basis());
    EXPECT_EQ(read.peak_channels(), from.set.peak_channels());
    const std::vector<std::int16_t> samples = from.samples();
    const auto sort = [&](const template_set& set) {
        return sort_in_pieces(set, from.later, samples, [] { return 4096U; });
    };
    EXPECT_EQ(sort(read), sort(from.set));
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(archive_of(read), std::string(std::istreambuf_iterator<char>(file), {}));
    EXPECT_THROW(write_templates(folder.path() / "none", {}), invalid_argument);
}

TEST(TemplateSets, AreRefusedIfTheyAreDamaged) {
    const example& from = shared_example();
    const temporary_folder folder;
    const auto path = folder.path() / "rig.templates";
    write_templates(path, from.set);
    int refused = 0;
    read_with_changed_bytes(folder, "rig.templates", damage_rounds(300), [&] {
        ++refused;
        const template_set read = read_templates(path);
        --refused;
        EXPECT_EQ(read.peak_channels(), from.set.peak_channels());
    });
    EXPECT_GT(refused, damage_rounds(300) / 2);
}

}  // namespace
}  // namespace spikeweave
