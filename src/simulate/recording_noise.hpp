#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/record/recording.hpp"
#include "spikeweave/simulate/recording.hpp"

namespace spikeweave::simulate {

/// An autoregressive process of order 2 with variance 1: x[t] = a1 x[t-1] + a2 x[t-2] + s e[t].
struct coloured_filter {
    float a1 = 0;
    float a2 = 0;
    float scale = 1;
    std::size_t settling = 0;  // samples after which its beginning is forgotten

    /// The spectrum falls from two corners that are fixed in time.
    explicit coloured_filter(double rate_hz);
};

/// The noise of a recording, made block by block.
class recording_noise {
public:
    recording_noise(const recording_options& options, std::span<const recording_channel> channels);

    /// Adds the noise of a block. All blocks but the last have `block_frames` frames.
    void add(std::size_t block, std::size_t frames, std::vector<float>& by_channel) const;

    static constexpr std::size_t block_frames = 4096;

private:
    struct share {
        std::uint32_t channel;
        float weight;
    };

    void spread(const std::vector<float>& sources, std::size_t frames,
                std::vector<float>& by_channel) const;
    void draw_white(std::uint32_t channel, std::size_t block, std::span<float> out) const;
    void draw_coloured(std::uint32_t channel, std::size_t block, std::span<float> out) const;

    std::uint64_t seed_;
    noise_spectrum spectrum_;
    coloured_filter filter_;
    float alone_uv_;  // standard deviation of the white part that channels do not share
    // For each channel: the sources that it is made of.
    std::vector<std::vector<share>> shares_;
};

}  // namespace spikeweave::simulate
