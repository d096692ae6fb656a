#pragma once

#include "device/cuda.hpp"
#include "record/detect/trace_steps.hpp"
#include "record/trace_kernels.hpp"

namespace spikeweave::record {

/// Finds the crossings among `samples` values of traces; waits for the stream.
piece_crossings find_crossings(const crossing_problem& problem, std::uint64_t samples,
                               const device::stream& on);

/// Writes the waveforms one after another.
void cut_waveforms(const waveform_problem& problem, float* waveforms, const device::stream& on);

/// Computes the fraction of each spike and its features on all channels.
void describe_spikes(const waveform_problem& problem, float* fractions, float* features,
                     const device::stream& on);

}  // namespace spikeweave::record
