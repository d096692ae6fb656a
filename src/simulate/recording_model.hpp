#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulate/unit_waveform.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/simulate/recording.hpp"

namespace spikeweave::simulate {

/// The values that the difficulty sets, and options override.
struct recording_realism {
    unit_distribution distribution;
    waveform_variety waveforms;
    double similar;
    double bursting;
    double background;
    noise_spectrum spectrum;
};
recording_realism realism_of(const recording_options& options);

struct recording_unit {
    simulated_unit what{};
    unit_waveform shape{};
    std::vector<std::int64_t> times_us{};
    std::vector<float> sizes{};  // size of each spike, about 1 on average
    std::uint32_t name = 0;
    std::uint64_t seed = 0;  // from which it was drawn
};

/// The field of a unit at the first sample.
unit_field field_of(const recording_unit& unit, std::span<const recording_channel> channels);

/// The units of the truth in the first session.
std::vector<recording_unit> first_units(const recording_options& options,
                                        std::span<const recording_channel> channels);

/// The units of the truth in the session of the options, and how far all have moved until then.
struct session_units {
    std::vector<recording_unit> units;
    double moved_um = 0;
};
session_units units_of_session(const recording_options& options,
                               std::span<const recording_channel> channels);

/// The seed of what is drawn anew in each session.
std::uint64_t seed_of_session(const recording_options& options);

/// The units of the truth, and after them those of the background, without spikes.
std::vector<recording_unit> make_units(const recording_options& options,
                                       std::span<const recording_channel> channels);

/// Draws the times of the spikes of unit u.
void draw_times(recording_unit& unit, std::uint32_t u, const recording_options& options);

/// Draws the sizes of the spikes of unit u, whose times are known.
void draw_sizes(recording_unit& unit, std::uint32_t u, const recording_options& options);

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
    struct samples;

    void take_given_times();
    void draw_spikes(const execution& run);
    void add_spikes(const recording_unit& unit, samples& to) const;
    void add_spike(const recording_unit& unit, const unit_field& field, std::size_t spike,
                   samples& to) const;
    void add_part(const unit_waveform& shape, const waveform_part& part, double size,
                  double time_us, float* out, const samples& to) const;

    spike_sequence given_;  // spikes of a file, if there is one
    recording_options options_;
    std::uint64_t frames_;
    std::vector<recording_channel> channels_;
    std::vector<recording_unit> units_;  // those of the truth, then those of the background
    recording_noise noise_;
    recording_truth truth_;
};

/// The motion of the units from 0 to the length of the recording; empty without drift.
/// @throws invalid_argument if they would begin to move after the end.
std::vector<simulated_displacement> motion_of(const recording_options& options);

/// The displacement at a time within the recording; 0 without drift.
double displacement_um(std::span<const simulated_displacement> motion, double time_us);

}  // namespace spikeweave::simulate
