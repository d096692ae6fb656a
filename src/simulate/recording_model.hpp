#pragma once

#include <cstdint>
#include <vector>

#include "spikeweave/simulate/recording.hpp"

namespace spikeweave::simulate {

/// A simulated recording without its samples, which it makes block by block from the seed and the
/// number of the block. It uses only exactly rounded operations, so that results are equal on every
/// machine.
class recording_model {
public:
    recording_model(const recording_options& options, const execution& run);

    const recording_truth& truth() const { return truth_; }
    recording_truth take_truth() { return std::move(truth_); }
    recording_description description() const;
    std::uint64_t frame_count() const { return frames_; }
    std::size_t block_count() const;
    /// Makes the samples of block i, channels fastest. May be called by several threads.
    std::vector<std::int16_t> block(std::size_t i) const;

private:
    struct unit {
        std::vector<std::int64_t> times_us{};
        std::vector<float> sizes{};  // size of each spike, 1 on average
        double trough_us = 0;        // half of its width
        double rebound_after_us = 0;
        double rebound_us = 0;
        double rebound_size = 0;
        double reach_um = 0;  // at this distance a quarter of the amplitude is left
    };
    struct share {
        std::uint32_t channel;
        float weight;
    };

    void place_units();
    void shape_units();
    void draw_spikes(const execution& run);
    void correlate_noise();
    void add_noise(std::size_t block, std::vector<float>& by_channel, std::size_t frames) const;
    void add_spikes(std::size_t u, std::uint64_t first, std::size_t frames,
                    std::vector<float>& by_channel) const;
    void add_spike(std::size_t u, std::size_t spike, std::uint64_t first, std::size_t frames,
                   std::vector<float>& by_channel) const;

    recording_options options_;
    std::uint64_t frames_ = 0;
    std::vector<recording_channel> channels_;
    std::vector<unit> units_;
    recording_truth truth_;
    std::vector<std::vector<share>>
        noise_;  // for each channel: the white noises that it is made of
};

/// The shape of a spike's trough and rebound: 1 at 0, and 0 from ±1 on.
double bump(double x);

}  // namespace spikeweave::simulate
