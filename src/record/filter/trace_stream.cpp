#include "spikeweave/record/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "record/filter/across_channels.hpp"
#include "record/filter/band_filter.hpp"
#include "record/filter/block_reader.hpp"

namespace spikeweave {

using record::filter_forward;
using record::subtract_medians;

namespace {

// On one thread.
constexpr std::size_t frames_together = 256;

}  // namespace

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
    const auto row = std::span{moved.displacement_um}.subspan(bin * moved.depths_um.size(),
                                                              moved.depths_um.size());
    displaced_.reset();
    if (std::ranges::count(row, 0.0) == std::ssize(row)) return;
    std::vector<bool> live;
    for (const double sd : settings_.noise) live.push_back(sd > 0);
    displaced_.emplace(channels_, live, moved, bin);
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

}  // namespace spikeweave
