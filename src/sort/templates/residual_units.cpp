#include "sort/templates/residual_units.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sort/templates/cluster_points.hpp"
#include "sort/templates/coincidences.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "sort/templates/refine_clusters.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/record/sample_source.hpp"
#include "spikeweave/sort/detected_features.hpp"

namespace spikeweave::templates {
namespace {

constexpr double leftover_window_s = 0.0005;
constexpr double most_leftovers = 0.4;  // share of spikes beside those of one other unit

// Rounds halves away from 0, without a call, so that many values are computed at once.
std::int16_t nearest_step(float deviations) {
    constexpr auto limit = static_cast<float>(largest_step);
    const float steps = std::clamp(deviations * steps_per_sd, -limit, limit);
    return static_cast<std::int16_t>(steps + (steps < 0 ? -0.5F : 0.5F));
}

// The traces without the spikes of known units, in steps.
class residual_samples final : public sample_source {
public:
    residual_samples(const template_traces& traces, const subtracted_units& subtracted)
        : traces_(traces),
          spikes_(subtracted.spikes),
          placed_(subtracted.filters, traces.window()) {}

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
        std::vector<std::int16_t> steps(part.values.size());
        std::ranges::transform(part.values, steps.begin(), nearest_step);
        for (std::size_t f = 0; f < part.frames; ++f)
            for (std::size_t c = 0; c < channels; ++c)
                into[f * channels + c] = steps[c * part.frames + f];
    }

    const template_traces& traces_;
    std::span<const template_spike> spikes_;
    placed_waveforms placed_;
};

recording residual_of(const template_traces& traces, const subtracted_units& subtracted) {
    recording_description described = traces.source().description();
    for (recording_channel& channel : described.channels) {
        channel.gain_uv = 1.0 / steps_per_sd;
        channel.offset_uv = 0;
    }
    return {std::move(described), std::make_shared<residual_samples>(traces, subtracted)};
}

// The traces have been referenced, whitened and corrected for motion.
detection_options for_residual(detection_options options, std::size_t features_per_channel) {
    options.preprocessing.reference = common_reference::none;
    options.preprocessing.whiten = false;
    options.preprocessing.moved = nullptr;
    options.features_per_channel = static_cast<std::uint32_t>(features_per_channel);
    options.basis.reset();
    return options;
}

// Tells what templates leave of their own spikes from spikes of other units.
class leftover_rule {
public:
    leftover_rule(const template_traces& traces, const subtracted_units& subtracted)
        : filters_(subtracted.filters),
          frames_(subtracted.filters.size()),
          window_(std::llround(leftover_window_s * traces.source().rate_hz())),
          recording_frames_(static_cast<double>(traces.source().frame_count())) {
        for (const template_spike& spike : subtracted.spikes)
            frames_[spike.unit].push_back(spike.frame);
    }

    bool applies(const residual_unit& unit) const {
        for (std::size_t u = 0; u < filters_.size(); ++u) {
            if (!std::ranges::binary_search(filters_[u].channels, unit.peak_channel)) continue;
            const auto found =
                static_cast<double>(count_pairs(unit.frames, frames_[u], 0, window_));
            const auto count = static_cast<double>(unit.frames.size());
            const double expected = expected_pairs(count, static_cast<double>(frames_[u].size()), 0,
                                                   window_, recording_frames_);
            if (found - expected > most_leftovers * count) return true;
        }
        return false;
    }

private:
    std::span<const matched_filter> filters_;
    std::vector<std::vector<std::int64_t>> frames_;
    std::int64_t window_;
    double recording_frames_;
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

std::vector<residual_unit> find_residual_units(const template_traces& traces,
                                               const subtracted_units& subtracted,
                                               const detection_options& detection,
                                               std::uint32_t least_spikes,
                                               std::uint32_t first_number, const execution& run,
                                               std::vector<cluster_decision>& decisions) {
    const recording residual = residual_of(traces, subtracted);
    detection_result left =
        detect_spikes(residual, for_residual(detection, detection.features_per_channel), run);
    if (left.size() < least_spikes) return {};
    const std::vector<std::int64_t> frames = std::move(left.frames);
    const std::vector<float> fractions = std::move(left.fractions);
    const spike_features features = to_features(std::move(left));
    const cluster_points points(features, detection.features_per_channel);
    const std::vector<spike_cluster> clusters = refine_clusters(
        clusters_of(cluster_by_channel(features, residual.channels(), {}, run), first_number),
        points,
        {.of = frames,
         .rate_hz = residual.rate_hz(),
         .recording_frames = static_cast<double>(residual.frame_count())},
        run, decisions);
    const leftover_rule leftovers(traces, subtracted);
    std::vector<residual_unit> out;
    for (const spike_cluster& cluster : clusters) {
        residual_unit unit{.number = cluster.number,
                           .peak_channel = points.largest_channels(cluster.spikes, 1).front()};
        for (const std::uint32_t n : cluster.spikes) {
            unit.frames.push_back(frames[n]);
            unit.fractions.push_back(fractions[n]);
        }
        const char* reason = nullptr;
        if (unit.frames.size() < least_spikes)
            reason = "it has too few spikes";
        else if (leftovers.applies(unit))
            reason = "it is what the template of another unit leaves of its spikes";
        if (reason == nullptr) {
            out.push_back(std::move(unit));
            continue;
        }
        decisions.push_back({.cluster = cluster.number,
                             .fate = cluster_fate::dropped,
                             .spikes = unit.frames.size(),
                             .reason = reason});
    }
    return out;
}

}  // namespace spikeweave::templates
