#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/parallel_for.hpp"
#include "pipeline/sort/steps.hpp"
#include "spikeweave/record/sample_facts.hpp"

namespace spikeweave::pipeline {

detection_options detection_of(const template_set& set, detection_options out) {
    const feature_basis& basis = set.basis();
    out.preprocessing.low_corner = basis.low_hz;
    out.preprocessing.high_corner = basis.high_hz;
    out.preprocessing.filter_order = basis.order;
    out.preprocessing.reference = basis.reference;
    out.features_per_channel = basis.features_per_channel;
    out.basis = basis;
    return out;
}

spikes_of_known find_known(const template_set& set, const recording& from,
                           const probe_motion& motion, std::vector<std::string>& warnings,
                           const execution& run) {
    constexpr std::size_t frames_at_once = 8192;
    const std::uint64_t end = from.frame_count();
    spikes_of_known known;
    template_sorting& out = known.found;
    out = {.sorted = {.unit_count = static_cast<std::uint32_t>(set.unit_count()),
                      .sample_rate = from.rate_hz(),
                      .sample_count = static_cast<std::int64_t>(end),
                      .begin = from.description().begin},
           .peak_channels = set.peak_channels()};
    const auto take = [&out](const std::vector<template_spike>& spikes) {
        for (const template_spike& spike : spikes) {
            out.sorted.labels.push_back(spike.unit + 1);
            out.sorted.samples.push_back(spike.frame);
            out.sorted.fractions.push_back(spike.fraction);
            out.amplitudes.push_back(spike.amplitude);
        }
    };
    online_sorter sorter(set, from.description(), motion, run);
    sample_facts facts(from.channel_count(), from.rate_hz());
    std::vector<std::int16_t> samples;
    for (std::uint64_t at = 0; at < end;) {
        const std::uint64_t count = std::min<std::uint64_t>(frames_at_once, end - at);
        samples.resize(count * from.channel_count());
        from.read(at, samples);
        parallel::on_own_threads(2, [&](std::size_t step) {
            if (step == 0)
                take(sorter.add(samples, run));
            else
                facts.take(samples);
        });
        at += count;
        if (run.on_progress) run.on_progress({"template matching", at, end});
    }
    take(sorter.finish(run));
    known.unexplained = sorter.take_unexplained();
    known.motion = sorter.motion();
    facts.end_piece();
    std::ranges::move(facts.all_warnings(from.channels()), std::back_inserter(warnings));
    if (std::string about =
            warning_of_unexplained(known.unexplained.size(), to_seconds(from.length()));
        !about.empty())
        warnings.push_back(std::move(about));
    return known;
}

void undo_followed(const probe_motion& followed, sort_options& options) {
    const auto is_zero = [](double um) { return um == 0; };
    options.motion.model = motion_model::none;
    if (std::ranges::all_of(followed.displacement_um, is_zero)) return;
    options.motion.model = followed.model;
    options.detection.preprocessing.moved = std::make_shared<const probe_motion>(followed);
}

void take_known_labels(const template_set& set, sort_result& result) {
    for (std::size_t u = 0; u < set.verdicts().size(); ++u)
        result.units[u].verdict = set.verdicts()[u];
    for (std::size_t u = 0; u < result.units.size(); ++u)
        result.units[u].origin = u < set.unit_count() ? "templates" : "new";
}

namespace {

struct labelled_spike {
    std::int64_t sample = 0;
    std::uint32_t label = 0;
    float fraction = 0;
    float amplitude = 0;
};

void append_spikes(const template_sorting& from, std::uint32_t labels_before,
                   std::vector<labelled_spike>& to) {
    for (std::size_t n = 0; n < from.sorted.labels.size(); ++n)
        to.push_back({from.sorted.samples[n], from.sorted.labels[n] + labels_before,
                      from.sorted.fractions[n], from.amplitudes[n]});
}

}  // namespace

void add_new_units(const template_set& set, const recording& from, const sort_options& options,
                   spikes_of_known& of, const execution& run) {
    template_sorting& known = of.found;
    template_sorting found =
        find_new_units(from, set, known, of.unexplained, options.detection, options.templates, run);
    const std::uint32_t before = known.sorted.unit_count;
    for (cluster_decision& each : found.decisions)
        if (each.fate == cluster_fate::kept) each.other += before;
    known.decisions = std::move(found.decisions);
    if (found.sorted.labels.empty()) return;
    std::vector<labelled_spike> all;
    append_spikes(known, 0, all);
    append_spikes(found, before, all);
    std::ranges::stable_sort(all, {}, &labelled_spike::sample);
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (n == known.sorted.labels.size()) {
            known.sorted.labels.emplace_back();
            known.sorted.samples.emplace_back();
            known.sorted.fractions.emplace_back();
            known.amplitudes.emplace_back();
        }
        known.sorted.labels[n] = all[n].label;
        known.sorted.samples[n] = all[n].sample;
        known.sorted.fractions[n] = all[n].fraction;
        known.amplitudes[n] = all[n].amplitude;
    }
    known.sorted.unit_count += found.sorted.unit_count;
    known.peak_channels.insert(known.peak_channels.end(), found.peak_channels.begin(),
                               found.peak_channels.end());
}

}  // namespace spikeweave::pipeline
