#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulate/recording_noise.hpp"
#include "simulate/recording_units.hpp"
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
