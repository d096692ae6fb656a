#include "sort/templates/residual_units.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "sort/templates/clean_units.hpp"
#include "sort/templates/cluster_points.hpp"
#include "sort/templates/coincidences.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "sort/templates/pooled_channels.hpp"
#include "sort/templates/refine_clusters.hpp"
#include "sort/templates/template_set.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/record/sample_source.hpp"
#include "spikeweave/sort/detected_features.hpp"

namespace spikeweave::templates {
namespace {

// A filtered spike rings beyond its template.
constexpr double leftover_window_s = 0.003;
constexpr double same_spike_s = 0.0005;
constexpr double most_leftovers = 0.4;  // share of spikes beside those of one other unit
constexpr double pooled_high_corner = 3000;

// Rounds halves away from 0, without a call, so that many values are computed at once.
std::int16_t nearest_step(float deviations) {
    constexpr auto limit = static_cast<float>(largest_step);
    const float steps = std::clamp(deviations * steps_per_sd, -limit, limit);
    return static_cast<std::int16_t>(steps + (steps < 0 ? -0.5F : 0.5F));
}

// The traces without the spikes of known units, in steps.
class residual_samples final : public sample_source {
public:
    residual_samples(const template_traces& traces, const subtracted_units& subtracted,
                     residual_traces where)
        : traces_(traces),
          spikes_(subtracted.spikes),
          placed_(subtracted.filters, traces.window()) {
        if (where == residual_traces::pooled) pooled_.emplace(traces.source().channels());
    }

    std::uint64_t frame_count() const override { return traces_.source().frame_count(); }

    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        constexpr std::size_t together = 1024;  // frames that fit the caches
        const std::size_t channels = traces_.source().channel_count();
        for (std::size_t at = 0; at < into.size(); at += together * channels)
            read_some(first + at / channels,
                      into.subspan(at, std::min(into.size() - at, together * channels)));
    }

private:
    void read_some(std::uint64_t first, std::span<std::int16_t> into) const {
        const std::size_t channels = traces_.source().channel_count();
        channel_block part = traces_.read(first, into.size() / channels);
        placed_.subtract(spikes_, part);
        if (pooled_) part = pooled_->pool(part);
        interleave(part, into);
    }

    // Writes the steps of all channels of a frame one after another. A few frames at a time take a
    // cache line a channel.
    static void interleave(const channel_block& from, std::span<std::int16_t> into) {
        constexpr std::size_t together = 32;
        const std::size_t channels = from.channels;
        std::vector<std::int16_t> steps(channels * together);
        for (std::size_t first = 0; first < from.frames; first += together) {
            const std::size_t frames = std::min(together, from.frames - first);
            for (std::size_t c = 0; c < channels; ++c)
                std::ranges::transform(from.on(c).subspan(first, frames), &steps[c * together],
                                       nearest_step);
            for (std::size_t f = 0; f < frames; ++f)
                for (std::size_t c = 0; c < channels; ++c)
                    into[(first + f) * channels + c] = steps[c * together + f];
        }
    }

    const template_traces& traces_;
    std::span<const template_spike> spikes_;
    placed_waveforms placed_;
    std::optional<pooled_channels> pooled_{};
};

recording residual_of(const template_traces& traces, const subtracted_units& subtracted,
                      residual_traces where) {
    recording_description described = traces.source().description();
    for (recording_channel& channel : described.channels) {
        channel.gain_uv = 1.0 / steps_per_sd;
        channel.offset_uv = 0;
    }
    return {std::move(described), std::make_shared<residual_samples>(traces, subtracted, where)};
}

// The traces have been referenced, whitened and corrected for motion.
detection_options for_residual(detection_options options, residual_traces where) {
    options.preprocessing.reference = common_reference::none;
    options.preprocessing.whiten = false;
    options.preprocessing.moved = nullptr;
    options.basis.reset();
    double& high = options.preprocessing.high_corner;
    if (where == residual_traces::pooled && options.preprocessing.low_corner < pooled_high_corner)
        high = std::min(high, pooled_high_corner);
    return options;
}

// Why a unit that was found in the residual is none.
class residual_rule {
public:
    residual_rule(const template_traces& traces, const subtracted_units& subtracted,
                  std::uint32_t least_spikes)
        : filters_(subtracted.filters),
          frames_(subtracted.filters.size()),
          rate_hz_(traces.source().rate_hz()),
          recording_frames_(static_cast<double>(traces.source().frame_count())),
          least_spikes_(least_spikes) {
        for (const template_spike& spike : subtracted.spikes)
            frames_[spike.unit].push_back(spike.frame);
    }

    /// @param found  units that were found before in the same residual
    /// @return null: nothing speaks against it
    const char* against(const residual_unit& unit, std::span<const residual_unit> found) const {
        if (unit.frames.size() < least_spikes_) return "it has too few spikes";
        for (std::size_t u = 0; u < filters_.size(); ++u)
            if (std::ranges::binary_search(filters_[u].channels, unit.peak_channel) &&
                share_beside(unit.frames, frames_[u], leftover_window_s) > most_leftovers)
                return "it is the remainder that the template of another unit leaves of its spikes";
        for (const residual_unit& other : found) {
            const bool is_smaller = unit.frames.size() < other.frames.size();
            const auto& [less, more] = is_smaller ? std::tie(unit.frames, other.frames)
                                                  : std::tie(other.frames, unit.frames);
            if (share_beside(less, more, same_spike_s) > most_leftovers)
                return "it was found on single channels, too";
        }
        return nullptr;
    }

private:
    // The share of spikes, beyond chance, that have one of the others beside them.
    double share_beside(std::span<const std::int64_t> spikes, std::span<const std::int64_t> others,
                        double window_s) const {
        const auto window = std::llround(window_s * rate_hz_);
        const auto count = static_cast<double>(spikes.size());
        const double expected =
            expected_pairs(count, static_cast<double>(others.size()), 0, window, recording_frames_);
        return (static_cast<double>(count_pairs(spikes, others, 0, window)) - expected) / count;
    }

    std::span<const matched_filter> filters_;
    std::vector<std::vector<std::int64_t>> frames_;
    double rate_hz_;
    double recording_frames_;
    std::uint32_t least_spikes_;
};

std::vector<spike_cluster> clusters_of(const clustering_result& found, std::uint32_t first_number) {
    std::vector<spike_cluster> out(found.units);
    for (std::uint32_t u = 0; u < found.units; ++u) out[u].number = first_number + u;
    for (std::uint32_t n = 0; n < found.labels.size(); ++n)
        if (found.labels[n] > 0) out[found.labels[n] - 1].spikes.push_back(n);
    std::erase_if(out, [](const spike_cluster& each) { return each.spikes.empty(); });
    return out;
}

}  // namespace

void find_residual_units(const template_traces& traces, const subtracted_units& subtracted,
                         const residual_search& search, const execution& run,
                         std::vector<residual_unit>& found,
                         std::vector<cluster_decision>& decisions) {
    const recording residual = residual_of(traces, subtracted, search.where);
    detection_options how = for_residual(search.detection, search.where);
    detection_result left = detect_spikes(residual, how, run);
    if (left.size() < search.least_spikes) return;
    const std::vector<std::int64_t> frames = std::move(left.frames);
    const std::vector<float> fractions = std::move(left.fractions);
    how.basis = std::move(left.basis);
    spike_features features = to_features(std::move(left));
    add_noise(features, residual, frames, how, run);
    const cluster_points points(features, search.detection.features_per_channel);
    const std::vector<spike_cluster> clusters =
        refine_clusters(clusters_of(cluster_by_channel(features, residual.channels(), {}, run),
                                    search.first_number),
                        points,
                        {.of = frames,
                         .rate_hz = residual.rate_hz(),
                         .recording_frames = static_cast<double>(residual.frame_count())},
                        run, decisions);
    const residual_rule rule(traces, subtracted, search.least_spikes);
    const std::size_t before = found.size();
    for (const spike_cluster& cluster : clusters) {
        residual_unit unit{.where = search.where,
                           .number = cluster.number,
                           .peak_channel = points.largest_channels(cluster.spikes, 1).front()};
        for (const std::uint32_t n : cluster.spikes) {
            unit.frames.push_back(frames[n]);
            unit.fractions.push_back(fractions[n]);
        }
        const char* const reason = rule.against(unit, std::span{found}.first(before));
        if (reason == nullptr) {
            found.push_back(std::move(unit));
            continue;
        }
        decisions.push_back({.cluster = cluster.number,
                             .fate = cluster_fate::dropped,
                             .spikes = unit.frames.size(),
                             .reason = reason});
    }
}

std::vector<bool> are_unexplained(const template_sorting& known, const template_set::parts& set,
                                  std::span<const unexplained_detection> unexplained) {
    constexpr double beside_s = 0.0005;
    const std::int64_t beside = std::llround(beside_s * set.basis.rate_hz);
    const std::vector<std::int64_t>& frames = known.sorted.samples;
    std::vector<bool> out(frames.size());
    for (const unexplained_detection& each : unexplained) {
        auto n = static_cast<std::size_t>(std::ranges::lower_bound(frames, each.frame - beside) -
                                          frames.begin());
        for (; n < frames.size() && frames[n] <= each.frame + beside; ++n) {
            const std::size_t unit = known.sorted.labels[n] - 1;
            out[n] = out[n] ||
                     (unit < set.plan.filters.size() &&
                      std::ranges::binary_search(set.plan.filters[unit].channels, each.channel));
        }
    }
    return out;
}

namespace {

// Known units and the spikes that they explain, without rare units, whose mean would be noise.
struct frequent_units {
    std::vector<template_spike> spikes{};
    std::vector<std::uint32_t> peak_channels{};

    frequent_units(const template_sorting& known, const std::vector<bool>& left_out,
                   std::uint32_t least_spikes) {
        std::vector<std::uint64_t> counts(known.peak_channels.size());
        for (std::size_t n = 0; n < left_out.size(); ++n)
            if (!left_out[n]) ++counts[known.sorted.labels[n] - 1];
        std::vector<std::uint32_t> index(counts.size(), no_unit);
        for (std::size_t u = 0; u < counts.size(); ++u) {
            if (counts[u] < least_spikes) continue;
            index[u] = static_cast<std::uint32_t>(peak_channels.size());
            peak_channels.push_back(known.peak_channels[u]);
        }
        for (std::size_t n = 0; n < known.sorted.labels.size(); ++n)
            if (const std::uint32_t unit = index[known.sorted.labels[n] - 1];
                unit != no_unit && !left_out[n])
                spikes.push_back({.frame = known.sorted.samples[n],
                                  .fraction = known.sorted.fractions[n],
                                  .unit = unit,
                                  .amplitude = known.amplitudes[n]});
    }
};

// The spikes of others are in the first mean, not in the second.
std::vector<matched_filter> mean_filters(const template_traces& traces, const frequent_units& units,
                                         const execution& run) {
    const std::vector<template_place> places =
        template_places(traces.source(), units.peak_channels);
    std::vector<matched_filter> filters;
    for (int round = 0; round < 2; ++round) {
        const std::vector<unit_template> means =
            average_templates(traces, units.spikes, places, filters, run);
        filters.clear();
        std::ranges::transform(means, std::back_inserter(filters), filter_of);
    }
    return filters;
}

template_sorting sort_residual(const recording& residual, detection_options how,
                               const template_options& options, const execution& run) {
    detection_result left = detect_spikes(residual, how, run);
    if (left.size() < options.least_spikes) return {};
    const std::size_t each = how.features_per_channel;
    sorting clusters{.samples = std::move(left.frames),
                     .sample_rate = residual.rate_hz(),
                     .fractions = std::move(left.fractions)};
    how.basis = std::move(left.basis);
    spike_features features = to_features(std::move(left));
    add_noise(features, residual, clusters.samples, how, run);
    clustering_result found = cluster_by_channel(features, residual.channels(), {}, run);
    clusters.labels = std::move(found.labels);
    clusters.unit_count = found.units;
    return sort_by_templates(residual, features, each, clusters, how, options, run);
}

// Drops those that consist of remainders.
template_sorting without_remainders(template_sorting found, const residual_rule& rule) {
    const std::size_t units = found.peak_channels.size();
    std::vector<residual_unit> each(units);
    for (std::size_t u = 0; u < units; ++u) each[u].peak_channel = found.peak_channels[u];
    for (std::size_t n = 0; n < found.sorted.labels.size(); ++n)
        each[found.sorted.labels[n] - 1].frames.push_back(found.sorted.samples[n]);
    std::vector<std::uint32_t> number(units);  // 0: dropped
    template_sorting out{.decisions = std::move(found.decisions)};
    for (std::size_t u = 0; u < units; ++u) {
        cluster_decision& kept = out.decisions[out.decisions.size() - units + u];
        if (const char* const reason = rule.against(each[u], {})) {
            kept.fate = cluster_fate::dropped;
            kept.other = 0;
            kept.reason = reason;
            continue;
        }
        out.peak_channels.push_back(found.peak_channels[u]);
        kept.other = number[u] = static_cast<std::uint32_t>(out.peak_channels.size());
    }
    out.sorted.unit_count = static_cast<std::uint32_t>(out.peak_channels.size());
    for (std::size_t n = 0; n < found.sorted.labels.size(); ++n) {
        const std::uint32_t label = number[found.sorted.labels[n] - 1];
        if (label == 0) continue;
        out.sorted.labels.push_back(label);
        out.sorted.samples.push_back(found.sorted.samples[n]);
        out.sorted.fractions.push_back(found.sorted.fractions[n]);
        out.amplitudes.push_back(found.amplitudes[n]);
    }
    return out;
}

}  // namespace
}  // namespace spikeweave::templates

namespace spikeweave {

using namespace templates;

template_sorting find_new_units(const recording& from, const template_set& set,
                                const template_sorting& known,
                                std::span<const unexplained_detection> unexplained,
                                const detection_options& detection, const template_options& options,
                                const execution& run) {
    preprocessing_options whitened = detection.preprocessing;
    whitened.whiten = true;
    const template_traces traces(filtered_recording(from, whitened, run), set.internals().window,
                                 options.kept_traces_bytes, run);
    const frequent_units units(known, are_unexplained(known, set.internals(), unexplained),
                               options.least_spikes);
    const std::vector<matched_filter> filters = mean_filters(traces, units, run);
    const subtracted_units subtracted{.spikes = units.spikes, .filters = filters};
    return without_remainders(
        sort_residual(residual_of(traces, subtracted, residual_traces::channels),
                      for_residual(detection, residual_traces::channels), options, run),
        {traces, subtracted, options.least_spikes});
}

}  // namespace spikeweave
