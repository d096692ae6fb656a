#include <numeric>
#include <utility>

#include "record/detect/trace_steps.hpp"
#include "record/filter/trace_rules.hpp"

namespace spikeweave::record {
namespace {

class cpu_steps final : public trace_steps {
public:
    cpu_steps(const filtered_recording& traces, crossing_rule rule, const waveform_window& window,
              std::size_t block_frames)
        : rule_(std::move(rule)),
          window_(window),
          bare_(traces, 0, block_frames),
          with_apron_(traces, window.apron(), block_frames) {}

    std::size_t piece_count() const override { return bare_.block_count(); }
    std::size_t piece_frames() const override { return bare_.block_frames(); }
    piece_crossings crossings_of(std::size_t piece) const override;
    std::vector<float> waveforms_of(std::size_t piece,
                                    std::span<const waveform_place> places) const override;
    void describe(std::size_t piece, const spike_slice& spikes,
                  const principal_components& components) const override;

private:
    crossing_rule rule_;
    waveform_window window_;
    block_reader bare_;
    block_reader with_apron_;
};

piece_crossings cpu_steps::crossings_of(std::size_t piece) const {
    const trace_block block = bare_.read(piece);
    piece_crossings out;
    for (std::size_t f = 0; f < block.frames; ++f) {
        const float* const frame = block.frame(static_cast<std::int64_t>(f));
        for (std::size_t c = 0; c < block.channels; ++c) {
            const float height = height_of(frame[c], rule_.by_noise[c], rule_.both);
            if (!(height > rule_.above)) continue;
            out.frames.push_back(static_cast<std::uint32_t>(f));
            out.crossings.push_back({static_cast<std::uint32_t>(c), height});
        }
    }
    return out;
}

std::vector<float> cpu_steps::waveforms_of(std::size_t piece,
                                           std::span<const waveform_place> places) const {
    const trace_block block = with_apron_.read(piece);
    const std::size_t frames = window_.size();
    std::vector<float> out(places.size() * frames);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const waveform_place& place = places[i];
        const std::int64_t offset = place.frame - static_cast<std::int64_t>(block.first);
        take_waveform(block, offset, fraction_of(block, offset, place.peak_channel), place.channel,
                      window_, std::span{out}.subspan(i * frames, frames));
    }
    return out;
}

void cpu_steps::describe(std::size_t piece, const spike_slice& spikes,
                         const principal_components& components) const {
    const trace_block block = with_apron_.read(piece);
    std::vector<float> waveform(window_.size());
    std::vector<std::uint32_t> all(spikes.described_channels.empty() ? block.channels : 0);
    std::iota(all.begin(), all.end(), 0U);
    float* feature = spikes.features.data();
    for (std::size_t n = 0; n < spikes.frames.size(); ++n) {
        const std::int64_t offset = spikes.frames[n] - static_cast<std::int64_t>(block.first);
        const float fraction = fraction_of(block, offset, spikes.peak_channels[n]);
        spikes.fractions[n] = fraction;
        for (const std::uint32_t c :
             all.empty() ? spikes.described_channels[spikes.peak_channels[n]] : all) {
            take_waveform(block, offset, fraction, c, window_, waveform);
            const std::span<const float> axes = components.of(c);
            for (std::size_t k = 0; k < components.components(); ++k)
                *feature++ = std::inner_product(
                    waveform.begin(), waveform.end(),
                    axes.begin() + static_cast<std::ptrdiff_t>(k * waveform.size()), 0.0F);
        }
    }
}

}  // namespace

std::unique_ptr<trace_steps> steps_on_cpu(const filtered_recording& traces,
                                          const crossing_rule& rule, const waveform_window& window,
                                          std::size_t block_frames) {
    return std::make_unique<cpu_steps>(traces, rule, window, block_frames);
}

}  // namespace spikeweave::record
