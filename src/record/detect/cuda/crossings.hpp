#pragma once

#include "device/cuda.hpp"
#include "record/detect/trace_steps.hpp"
#include "record/trace_kernels.hpp"

namespace spikeweave::record {

/// Finds the crossings among `samples` values of traces; waits for the stream.
piece_crossings find_crossings(const crossing_problem& problem, std::uint64_t samples,
                               const device::stream& on);

}  // namespace spikeweave::record
