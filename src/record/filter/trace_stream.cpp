#include "spikeweave/record/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "record/filter/across_channels.hpp"
#include "record/filter/band_filter.hpp"
#include "record/filter/block_reader.hpp"

namespace spikeweave {

using record::filter_forward;
using record::subtract_medians;
using record::whiten_frames;

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
      states_(2 * settings_.sections.size() * channels.size()) {}

void trace_stream::follow(const probe_motion& moved, std::size_t bin) {
    const auto row = std::span{moved.displacement_um}.subspan(bin * moved.depths_um.size(),
                                                              moved.depths_um.size());
    displaced_.reset();
    if (std::ranges::count(row, 0.0) == std::ssize(row)) return;
    std::vector<bool> live;
    for (const double sd : settings_.noise) live.push_back(sd > 0);
    displaced_.emplace(channels_, live, moved, bin);
}

std::vector<float> trace_stream::next(std::span<const std::int16_t> counts) {
    const std::size_t channels = channels_.size();
    std::vector<double> frames(counts.size());
    for (std::size_t at = 0; at < counts.size(); at += channels)
        for (std::size_t c = 0; c < channels; ++c)
            frames[at + c] = channels_[c].gain_uv * counts[at + c];
    if (first_.empty() && !frames.empty())
        first_.assign(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(channels));
    for (std::size_t at = 0; at < frames.size(); at += channels)
        for (std::size_t c = 0; c < channels; ++c) frames[at + c] -= first_[c];
    filter_forward(settings_.sections, channels, states_, frames);
    if (!settings_.referenced.empty()) subtract_medians(channels, settings_.referenced, frames);
    std::vector<float> out(frames.begin(), frames.end());
    if (displaced_) displaced_->apply(out);
    if (!settings_.whitening.empty()) whiten_frames(settings_.whitening, channels, out);
    return out;
}

}  // namespace spikeweave
