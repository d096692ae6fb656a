#include "sort/templates/residual_units.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "sort/templates/cluster_points.hpp"
#include "sort/templates/coincidences.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "sort/templates/pooled_channels.hpp"
#include "sort/templates/refine_clusters.hpp"
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

}  // namespace spikeweave::templates
