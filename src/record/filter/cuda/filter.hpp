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

struct scaling_problem {
    const float* traces;  ///< rows x channels
    std::uint32_t rows;
    std::uint32_t channels;
    const float* factors;  ///< of each channel
    float limit;
};

/// Sets channels x rows to the traces times the factors, limited and rounded.
void scale_columns(const scaling_problem& problem, std::int16_t* to, const device::stream& on);

}  // namespace spikeweave::record
