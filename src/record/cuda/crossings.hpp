#pragma once

#include "device/cuda.hpp"
#include "record/cuda/trace_kernels.hpp"
#include "record/trace_steps.hpp"

namespace spikeweave::record {

/// Finds the crossings among `samples` values of traces; waits for the stream.
piece_crossings find_crossings(const crossing_problem& problem, std::uint64_t samples,
                               const device::stream& on);

}  // namespace spikeweave::record
