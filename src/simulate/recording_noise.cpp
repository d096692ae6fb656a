#include "simulate/recording_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "simulate/random_values.hpp"
#include "simulate/recording_units.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave::simulate {
namespace {

// The share of the variance of coloured noise that is white and independent on each channel.
constexpr double alone = 0.3;
// Coloured sources are drawn in pieces, so that a block can begin a few pieces early.
constexpr std::size_t piece_frames = 512;
static_assert(recording_noise::block_frames % piece_frames == 0);

double shared_sd(const recording_options& options, noise_spectrum spectrum) {
    return spectrum == noise_spectrum::white ? options.noise_uv
                                             : options.noise_uv * std::sqrt(1 - alone);
}

}  // namespace

coloured_filter::coloured_filter(double rate_hz) {
    constexpr double slow_s = 120e-6;  // corners at 1.3 and 4 kHz
    constexpr double fast_s = 40e-6;
    constexpr double forgotten = 40;  // time constants
    const double slow = slow_s / (slow_s + 1 / rate_hz);
    const double fast = fast_s / (fast_s + 1 / rate_hz);
    const double one = slow + fast;
    const double two = -slow * fast;
    a1 = static_cast<float>(one);
    a2 = static_cast<float>(two);
    scale =
        static_cast<float>(std::sqrt((1 + two) * (squared(1 - two) - squared(one)) / (1 - two)));
    settling = static_cast<std::size_t>(forgotten * slow_s * rate_hz) + 1;
}

// Spreads the source of each channel over its neighbours, so that the correlation of two channels
// decreases with their distance.
recording_noise::recording_noise(const recording_options& options,
                                 std::span<const recording_channel> channels)
    : seed_(options.seed),
      spectrum_(realism_of(options).spectrum),
      filter_(options.rate_hz),
      alone_uv_(static_cast<float>(options.noise_uv * std::sqrt(alone))),
      shares_(channels.size()) {
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
        double sum = 0;
        std::vector<std::pair<std::uint32_t, double>> weights;
        for (std::uint32_t other = 0; other < channels.size(); ++other) {
            const double d2 = squared(channels[c].x_um - channels[other].x_um) +
                              squared(channels[c].y_um - channels[other].y_um);
            const double reach2 = squared(options.noise_reach_um);
            if (other != c && d2 >= reach2) continue;
            const double weight = other == c ? 1 : squared(1 - d2 / reach2);
            weights.emplace_back(other, weight);
            sum += weight * weight;
        }
        const double scale = shared_sd(options, spectrum_) / std::sqrt(sum);
        for (const auto& [other, weight] : weights)
            shares_[c].push_back({other, static_cast<float>(weight * scale)});
    }
}

void recording_noise::add(std::size_t block, std::size_t frames,
                          std::vector<float>& by_channel) const {
    const bool is_white = spectrum_ == noise_spectrum::white;
    std::vector<float> sources(by_channel.size());
    for (std::uint32_t c = 0; c < shares_.size(); ++c) {
        const std::span source(sources.data() + c * frames, frames);
        if (is_white)
            draw_white(c, block, source);
        else
            draw_coloured(c, block, source);
    }
    spread(sources, frames, by_channel);
    if (is_white) return;
    std::vector<float> white(frames);
    for (std::uint32_t c = 0; c < shares_.size(); ++c) {
        draw_white(c, block, white);
        for (std::size_t f = 0; f < frames; ++f) by_channel[c * frames + f] += alone_uv_ * white[f];
    }
}

void recording_noise::spread(const std::vector<float>& sources, std::size_t frames,
                             std::vector<float>& by_channel) const {
    for (std::size_t c = 0; c < shares_.size(); ++c)
        for (const share& from : shares_[c]) {
            const float* const in = sources.data() + from.channel * frames;
            float* const out = by_channel.data() + c * frames;
            for (std::size_t f = 0; f < frames; ++f) out[f] += from.weight * in[f];
        }
}

void recording_noise::draw_white(std::uint32_t channel, std::size_t block,
                                 std::span<float> out) const {
    random_stream random(seed_, random_purpose::recording_noise, channel,
                         static_cast<std::uint32_t>(block));
    for (float& sample : out) sample = nearly_normal_float(random);
}

// The filter starts at rest so many pieces before the block that nothing is left of its start. It
// is therefore the same process in all blocks, whichever thread makes them.
void recording_noise::draw_coloured(std::uint32_t channel, std::size_t block,
                                    std::span<float> out) const {
    const std::size_t before = (filter_.settling + piece_frames - 1) / piece_frames;
    const std::size_t pieces = before + (out.size() + piece_frames - 1) / piece_frames;
    const std::size_t first = block * (block_frames / piece_frames);
    float last = 0;
    float last_but_one = 0;
    for (std::size_t i = 0; i < pieces; ++i) {
        random_stream random(seed_, random_purpose::recording_coloured_noise, channel,
                             static_cast<std::uint32_t>(first + i));
        for (std::size_t f = 0; f < piece_frames; ++f) {
            const float next = filter_.a1 * last + filter_.a2 * last_but_one +
                               filter_.scale * nearly_normal_float(random);
            last_but_one = std::exchange(last, next);
            const std::size_t at = i * piece_frames + f;
            if (i >= before && at - before * piece_frames < out.size())
                out[at - before * piece_frames] = next;
        }
    }
}

}  // namespace spikeweave::simulate
