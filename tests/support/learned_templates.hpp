#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/detected_features.hpp"
#include "spikeweave/sort/templates.hpp"

namespace spikeweave {

// Returns frames of a recording as another one.
inline recording part_of(const recording& from, std::uint64_t first, std::uint64_t count) {
    std::vector<std::int16_t> samples(count * from.channel_count());
    from.read(first, samples);
    return {from.description(), std::move(samples)};
}

inline template_sorting sort_whole(const recording& from, bool learns_set) {
    detection_options how;
    const detection_result found = detect_spikes(from, how);
    how.basis = found.basis;
    const spike_features features = to_features(detection_result(found));
    const clustering_result clusters = cluster_by_channel(features, from.channels());
    return sort_by_templates(from, features, 3,
                             {.labels = clusters.labels,
                              .unit_count = clusters.units,
                              .samples = found.frames,
                              .sample_rate = from.rate_hz(),
                              .sample_count = static_cast<std::int64_t>(from.frame_count()),
                              .fractions = found.fractions},
                             how, {.learns_set = learns_set});
}

}  // namespace spikeweave
