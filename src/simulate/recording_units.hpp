#pragma once

#include <cstdint>
#include <span>
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
};

/// The field of a unit at the first sample.
unit_field field_of(const recording_unit& unit, std::span<const recording_channel> channels);

/// The units of the truth, and after them those of the background, without spikes.
std::vector<recording_unit> make_units(const recording_options& options,
                                       std::span<const recording_channel> channels);

/// Draws the times of the spikes of unit u.
void draw_times(recording_unit& unit, std::uint32_t u, const recording_options& options);

/// Draws the sizes of the spikes of unit u, whose times are known.
void draw_sizes(recording_unit& unit, std::uint32_t u, const recording_options& options);

}  // namespace spikeweave::simulate
