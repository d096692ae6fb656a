#pragma once

#include "device/cuda.hpp"
#include "record/trace_kernels.hpp"

namespace spikeweave::record {

/// Writes the waveforms one after another.
void cut_waveforms(const waveform_problem& problem, float* waveforms, const device::stream& on);

/// Computes the fraction of each spike and its features on all channels.
void describe_spikes(const waveform_problem& problem, float* fractions, float* features,
                     const device::stream& on);

}  // namespace spikeweave::record
