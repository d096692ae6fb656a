#pragma once

#include "device/cuda.hpp"
#include "record/trace_kernels.hpp"

namespace spikeweave::record {

/// Filters blocks and subtracts their medians if requested. `traces` must be 0 where nothing is
/// kept.
void filter_blocks(const filter_problem& problem, const device::stream& on);

/// Sets the rows of `to` to those of `from` times the matrix.
void whiten_rows(const float* from, const float* matrix, std::uint64_t rows, std::uint32_t channels,
                 float* to, const device::stream& on);

/// Copies every `excerpt_step`th row.
void pick_rows(const float* from, std::uint64_t rows, std::uint32_t channels, float* to,
               const device::stream& on);

}  // namespace spikeweave::record
