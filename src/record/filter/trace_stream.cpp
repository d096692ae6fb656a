#include "record/filter/trace_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "record/filter/across_channels.hpp"
#include "record/filter/band_filter.hpp"
#include "record/filter/block_reader.hpp"
#include "record/filter/trace_rules.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using record::filter_forward;
using record::subtract_medians;

namespace {

// On one thread.
constexpr std::size_t frames_together = 64;
// Whose samples are beside each other.
constexpr std::size_t channels_together = 16;

class scaled_stream_on_cpu final : public record::scaled_stream {
public:
    scaled_stream_on_cpu(trace_settings settings, std::span<const recording_channel> channels,
                         trace_scale scale)
        : traces_(std::move(settings), channels), scale_(std::move(scale)) {}

    void follow(const probe_motion& moved, std::size_t bin) override { traces_.follow(moved, bin); }

    std::vector<std::int16_t> next(std::span<const std::int16_t> counts,
                                   const execution& run) override {
        const std::vector<float> values = traces_.next(counts, run);
        const std::size_t channels = scale_.factors.size();
        const std::size_t frames = values.size() / channels;
        std::vector<std::int16_t> out(values.size());
        const auto scale_group = [&](std::size_t group) {
            const std::size_t first = group * channels_together;
            const std::size_t width = std::min(channels_together, channels - first);
            std::array<std::int16_t, channels_together> row{};
            for (std::size_t f = 0; f < frames; ++f) {
                const float* const from = values.data() + f * channels + first;
                const float* const factors = scale_.factors.data() + first;
                for (std::size_t i = 0; i < width; ++i)
                    row[i] = record::scaled(from[i], factors[i], scale_.limit);
                for (std::size_t i = 0; i < width; ++i) out[(first + i) * frames + f] = row[i];
            }
        };
        const std::size_t groups = (channels + channels_together - 1) / channels_together;
        parallel::parallel_for(groups, {.threads = run.threads, .stop = run.stop}, "", scale_group);
        return out;
    }

private:
    trace_stream traces_;
    trace_scale scale_;
};

}  // namespace

std::optional<displaced_contacts> record::displaced_in(const probe_motion& moved, std::size_t bin,
                                                       std::span<const recording_channel> channels,
                                                       std::span<const double> noise) {
    const auto row = std::span{moved.displacement_um}.subspan(bin * moved.depths_um.size(),
                                                              moved.depths_um.size());
    if (std::ranges::count(row, 0.0) == std::ssize(row)) return {};
    std::vector<bool> live;
    for (const double sd : noise) live.push_back(sd > 0);
    return displaced_contacts(channels, live, moved, bin);
}

trace_settings settings_of(const filtered_recording& traces) {
    const record::trace_recipe& recipe = record::block_reader(traces).recipe();
    return {.sections = recipe.sections,
            .referenced = recipe.referenced,
            .whitening = recipe.whitening,
            .noise = {traces.noise().begin(), traces.noise().end()}};
}

trace_stream::trace_stream(trace_settings settings, std::span<const recording_channel> channels)
    : settings_(std::move(settings)),
      channels_(channels.begin(), channels.end()),
      states_(2 * settings_.sections.size() * channels.size()) {
    if (!settings_.whitening.empty())
        whitener_ = std::make_shared<record::whitener>(settings_.whitening, channels.size());
}

void trace_stream::follow(const probe_motion& moved, std::size_t bin) {
    displaced_ = record::displaced_in(moved, bin, channels_, settings_.noise);
}

// Frames depend on each other only in the filter.
std::vector<float> trace_stream::next(std::span<const std::int16_t> counts, const execution& run) {
    const std::size_t channels = channels_.size();
    const std::size_t piece = frames_together * channels;
    const auto for_pieces = [&](const std::function<void(std::size_t, std::size_t)>& work) {
        const std::size_t pieces = (counts.size() + piece - 1) / piece;
        const auto on_piece = [&](std::size_t i) {
            work(i * piece, std::min(piece, counts.size() - i * piece));
        };
        if (pieces == 1) return on_piece(0);
        parallel::parallel_for(pieces, {.threads = run.threads, .stop = run.stop}, "", on_piece);
    };
    if (first_.empty() && !counts.empty())
        for (std::size_t c = 0; c < channels; ++c)
            first_.push_back(channels_[c].gain_uv * counts[c]);
    std::vector<double> frames(counts.size());
    for_pieces([&](std::size_t begin, std::size_t size) {
        for (std::size_t at = begin; at < begin + size; at += channels)
            for (std::size_t c = 0; c < channels; ++c)
                frames[at + c] = channels_[c].gain_uv * counts[at + c] - first_[c];
    });
    filter_forward(settings_.sections, channels, states_, frames);
    std::vector<float> out(counts.size());
    for_pieces([&](std::size_t begin, std::size_t size) {
        const std::span<double> filtered = std::span(frames).subspan(begin, size);
        if (!settings_.referenced.empty())
            subtract_medians(channels, settings_.referenced, filtered);
        const std::span<float> traces = std::span(out).subspan(begin, size);
        std::ranges::copy(filtered, traces.begin());
        if (displaced_) displaced_->apply(traces);
        if (whitener_) whitener_->apply(traces);
    });
    return out;
}

scaled_trace_stream::scaled_trace_stream(trace_settings settings,
                                         std::span<const recording_channel> channels,
                                         trace_scale scale, const execution& run) {
    if (scale.factors.size() != channels.size())
        throw invalid_argument(
            fmt::format("{} factors for {} channels", scale.factors.size(), channels.size()));
    if (run.devices.empty())
        stream_ =
            std::make_shared<scaled_stream_on_cpu>(std::move(settings), channels, std::move(scale));
    else
        stream_ = record::scaled_stream_on_device(settings, channels, scale, run.devices.front());
}

void scaled_trace_stream::follow(const probe_motion& moved, std::size_t bin) {
    stream_->follow(moved, bin);
}

std::vector<std::int16_t> scaled_trace_stream::next(std::span<const std::int16_t> counts,
                                                    const execution& run) {
    return stream_->next(counts, run);
}

}  // namespace spikeweave
