// Cuts waveforms and computes features of spikes.
//
//   work per thread   cut: one frame of a waveform; describe: one channel of a spike, whose
//                     waveform is never written to memory
//   shared memory     none
//   pays off          always: every channel of every spike is projected

#include "record/detect/cuda/kernels.hpp"

namespace spikeweave::record {
namespace {

constexpr unsigned waveform_threads = 128;

__global__ void __launch_bounds__(waveform_threads)
    cut(const waveform_problem p, float* __restrict__ waveforms) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * waveform_threads + threadIdx.x;
    if (i >= std::uint64_t{p.count} * p.frames) return;
    const auto n = static_cast<std::uint32_t>(i / p.frames);
    waveforms[i] = waveform_at(p, n, static_cast<std::uint32_t>(i - std::uint64_t{n} * p.frames));
}

__global__ void __launch_bounds__(waveform_threads)
    describe(const waveform_problem p, float* __restrict__ fractions,
             float* __restrict__ features) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * waveform_threads + threadIdx.x;
    if (i >= std::uint64_t{p.count} * p.channels) return;
    const auto n = static_cast<std::uint32_t>(i / p.channels);
    const auto channel = static_cast<std::uint32_t>(i - std::uint64_t{n} * p.channels);
    describe_channel(p, n, channel, features + i * p.components);
    if (channel == 0) fractions[n] = fraction_of(p, p.spikes[n]);
}

unsigned grid_for(std::uint64_t items) {
    return static_cast<unsigned>((items + waveform_threads - 1) / waveform_threads);
}

}  // namespace

void cut_waveforms(const waveform_problem& problem, float* waveforms, const device::stream& on) {
    cut<<<grid_for(std::uint64_t{problem.count} * problem.frames), waveform_threads, 0, on.get()>>>(
        problem, waveforms);
    device::check(cudaGetLastError());
}

void describe_spikes(const waveform_problem& problem, float* fractions, float* features,
                     const device::stream& on) {
    describe<<<grid_for(std::uint64_t{problem.count} * problem.channels), waveform_threads, 0,
               on.get()>>>(problem, fractions, features);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::record
