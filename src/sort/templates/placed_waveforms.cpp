#include "sort/templates/placed_waveforms.hpp"

#include <algorithm>
#include <cmath>

#include "sort/templates/overlaps.hpp"

namespace spikeweave::templates {

placed_waveforms::placed_waveforms(std::span<const matched_filter> filters,
                                   const template_window& window)
    : filters_(filters), window_(window) {
    for (const matched_filter& filter : filters)
        for (int part = 0; part < parts_of_frame; ++part) {
            values_.emplace_back();
            for (std::size_t c = 0; c < filter.channels.size(); ++c)
                values_.back().push_back(
                    waveform_of(filter, c, static_cast<double>(part) / parts_of_frame));
        }
}

void placed_waveforms::subtract(std::span<const template_spike> spikes,
                                channel_block& block) const {
    const auto reach = static_cast<std::int64_t>(block.apron + window_.size());
    const auto first = static_cast<std::int64_t>(block.first);
    const auto from = std::ranges::lower_bound(spikes, first - reach, {}, &template_spike::frame);
    const auto to =
        std::ranges::lower_bound(spikes, first + static_cast<std::int64_t>(block.frames) + reach,
                                 {}, &template_spike::frame);
    for (auto spike = from; spike < to; ++spike) subtract(*spike, block);
}

void placed_waveforms::subtract(const template_spike& spike, channel_block& block) const {
    const auto parts = static_cast<int>(std::lround(spike.fraction * parts_of_frame));
    const int part = parts < 0 ? parts + parts_of_frame : parts;
    const std::int64_t begin =
        spike.frame - (parts < 0 ? 1 : 0) - window_.before - static_cast<std::int64_t>(block.first);
    const matched_filter& filter = filters_[spike.unit];
    const auto& waveforms =
        values_[std::size_t{spike.unit} * parts_of_frame + static_cast<std::size_t>(part)];
    const auto apron = static_cast<std::int64_t>(block.apron);
    const auto end = static_cast<std::int64_t>(block.frames + block.apron);
    const std::int64_t first = std::max<std::int64_t>(0, -apron - begin);
    const std::int64_t last = std::min(static_cast<std::int64_t>(filter.frames), end - begin);
    if (first >= last) return;
    for (std::size_t c = 0; c < filter.channels.size(); ++c) {
        float* const into = block.on(filter.channels[c]).data() + (begin + apron);
        const float* const waveform = waveforms[c].data();
        for (std::int64_t f = first; f < last; ++f) into[f] -= spike.amplitude * waveform[f];
    }
}

}  // namespace spikeweave::templates
