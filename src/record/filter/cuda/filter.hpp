#pragma once

#include "device/cuda.hpp"
#include "record/trace_kernels.hpp"

namespace spikeweave::record {

/// Filters blocks and subtracts their medians if requested. `traces` must be 0 where nothing is
/// kept.
void filter_blocks(const filter_problem& problem, const device::stream& on);

/// Filters frames that follow others.
void filter_forward(const forward_problem& problem, const device::stream& on);

/// Sets the kept traces to the values, less the median of each frame.
void subtract_medians(const filter_problem& problem, const device::stream& on);

/// Sets the rows of `to` to those of `from`, each channel mixed from `sources` others.
struct mixing_problem {
    const float* frames;  ///< rows x channels
    std::uint32_t rows;
    std::uint32_t channels;
    std::uint32_t sources;
    const std::uint32_t* from;  ///< channels x sources
    const float* weights;       ///< the same
};
void mix_channels(const mixing_problem& problem, float* to, const device::stream& on);

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
