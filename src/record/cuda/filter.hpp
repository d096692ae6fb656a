#pragma once

#include "device/cuda.hpp"
#include "record/cuda/trace_kernels.hpp"

namespace spikeweave {

/// Filters blocks and takes their medians, if wanted. Traces hold 0 where nothing is kept before.
void filter_blocks(const filter_problem& problem, const device::stream& on);

/// Rows of `to` are those of `from` times the matrix.
void whiten_rows(const float* from, const float* matrix, std::uint64_t rows, std::uint32_t channels,
                 float* to, const device::stream& on);

/// Every `excerpt_step`th row.
void pick_rows(const float* from, std::uint64_t rows, std::uint32_t channels, float* to,
               const device::stream& on);

}  // namespace spikeweave
