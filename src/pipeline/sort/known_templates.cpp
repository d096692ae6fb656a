#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

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

template_sorting find_known(const template_set& set, const recording& from,
                            std::vector<std::string>& warnings, const execution& run) {
    constexpr std::size_t frames_at_once = 8192;
    const std::uint64_t end = from.frame_count();
    template_sorting out{.sorted = {.unit_count = static_cast<std::uint32_t>(set.unit_count()),
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
    online_sorter sorter(set, from.description());
    sample_facts facts(from.channel_count(), from.rate_hz());
    std::vector<std::int16_t> samples;
    for (std::uint64_t at = 0; at < end;) {
        const std::uint64_t count = std::min<std::uint64_t>(frames_at_once, end - at);
        samples.resize(count * from.channel_count());
        from.read(at, samples);
        facts.take(samples);
        take(sorter.add(samples, run));
        at += count;
        if (run.on_progress) run.on_progress({"template matching", at, end});
    }
    take(sorter.finish(run));
    facts.end_piece();
    std::ranges::move(facts.all_warnings(from.channels()), std::back_inserter(warnings));
    return out;
}

}  // namespace spikeweave::pipeline
