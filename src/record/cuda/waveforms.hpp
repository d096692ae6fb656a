#pragma once

#include "device/cuda.hpp"
#include "record/cuda/trace_kernels.hpp"

namespace spikeweave {

/// One waveform after another.
void cut_waveforms(const waveform_problem& problem, float* waveforms, const device::stream& on);

/// Of each spike the fraction, and the features of all channels.
void describe_spikes(const waveform_problem& problem, float* fractions, float* features,
                     const device::stream& on);

}  // namespace spikeweave
