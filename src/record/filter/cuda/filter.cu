// Turns samples into filtered traces.
//
//   work per thread   filter: one channel of a block, forward and backward; median: a warp has a
//                     frame and finds the median bit by bit
//   shared memory     filter: two numbers per section and thread
//   pays off          always: a thread takes about two milliseconds for a block of 8,192 frames,
//                     and thousands run at once

#include <algorithm>

#include "device/warp.cuh"
#include "record/filter/cuda/filter.hpp"

namespace spikeweave::record {
namespace {

using device::warp;
using device::whole_warp;

// Small blocks spread the few threads over the whole device.
constexpr unsigned filter_threads = 32;
constexpr unsigned threads = 256;

__global__ void __launch_bounds__(filter_threads)
    filter_columns(const __grid_constant__ filter_problem p) {
    __shared__ double states[2 * most_sections * filter_threads];
    const unsigned column = blockIdx.x * filter_threads + threadIdx.x;
    if (column >= p.block_count * p.channels) return;
    filter_column_of(p, column / p.channels, column % p.channels, states + threadIdx.x,
                     filter_threads);
}

__global__ void __launch_bounds__(filter_threads)
    filter_columns_forward(const __grid_constant__ forward_problem p) {
    const unsigned channel = blockIdx.x * filter_threads + threadIdx.x;
    if (channel < p.channels) filter_column_forward(p, channel);
}

// After its first pass, a frame is read from the cache. Six blocks per multiprocessor leave enough
// registers; with as many blocks as fit, some registers would spill. Before compute capability 8.0,
// four fit.
#if __CUDA_ARCH__ >= 800
constexpr unsigned median_blocks = 6;
#else
constexpr unsigned median_blocks = 4;
#endif
__global__ void __launch_bounds__(threads, median_blocks)
    take_medians(const __grid_constant__ filter_problem p) {
    const unsigned lane = threadIdx.x % warp;
    const staged_block where = p.blocks[blockIdx.y];
    const std::uint64_t kept = where.kept_to - where.kept_from;
    const unsigned rounded = (p.referenced_count + warp - 1) / warp * warp;
    for (std::uint64_t row = (blockIdx.x * threads + threadIdx.x) / warp; row < kept;
         row += gridDim.x * (threads / warp)) {
        const double* const frame = values_of(p, blockIdx.y) + (where.kept_from + row) * p.channels;
        const auto count = [&](std::uint64_t prefix, int bit) {
            unsigned found = 0;
            for (unsigned c = lane; c < rounded; c += warp)
                found += __popc(__ballot_sync(
                    whole_warp,
                    c < p.referenced_count && order_of(frame[p.referenced[c]]) >> bit == prefix));
            return std::uint64_t{found};
        };
        const auto greatest_below = [&](std::uint64_t order, std::uint32_t& less) {
            std::uint64_t greatest = 0;
            less = 0;
            for (unsigned c = lane; c < rounded; c += warp) {
                const std::uint64_t own =
                    c < p.referenced_count ? order_of(frame[p.referenced[c]]) : order;
                less += __popc(__ballot_sync(whole_warp, own < order));
                if (own < order && own > greatest) greatest = own;
            }
            for (unsigned d = warp / 2; d > 0; d /= 2) {
                const std::uint64_t other = __shfl_xor_sync(whole_warp, greatest, d);
                if (other > greatest) greatest = other;
            }
            return greatest;
        };
        const double median = median_by(p.referenced_count, count, greatest_below);
        float* const to = kept_traces_of(p, blockIdx.y) + row * p.channels;
        for (unsigned c = lane; c < p.channels; c += warp)
            to[c] = static_cast<float>(frame[c] - p.shares[c] * median);
    }
}

struct rows_problem {
    const float* from;
    std::uint64_t size;  // number of values of the result
    std::uint32_t channels;
};

__global__ void __launch_bounds__(threads)
    whiten(const rows_problem p, const float* __restrict__ matrix, float* __restrict__ to) {
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < p.size;
         i += std::uint64_t{gridDim.x} * threads) {
        const std::uint64_t row = i / p.channels;
        const auto channel = static_cast<std::uint32_t>(i - row * p.channels);
        to[i] = whitened(p.from + row * p.channels, matrix, p.channels, channel);
    }
}

__global__ void __launch_bounds__(threads)
    mix(const __grid_constant__ mixing_problem p, float* __restrict__ to) {
    const std::uint64_t size = std::uint64_t{p.rows} * p.channels;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < size;
         i += std::uint64_t{gridDim.x} * threads) {
        const std::uint64_t row = i / p.channels;
        const std::uint64_t first = (i - row * p.channels) * p.sources;
        to[i] = mixed(p.frames + row * p.channels, p.from + first, p.weights + first, p.sources);
    }
}

__global__ void __launch_bounds__(threads) pick(const rows_problem p, float* __restrict__ to) {
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < p.size;
         i += std::uint64_t{gridDim.x} * threads) {
        const std::uint64_t row = i / p.channels;
        to[i] = p.from[i + row * (excerpt_step - 1) * p.channels];
    }
}

// A block of threads turns a square of 32 rows and channels, so that reading and writing are both
// contiguous.
constexpr unsigned turned_rows = threads / warp;

__global__ void __launch_bounds__(threads)
    scale(const scaling_problem p, std::int16_t* __restrict__ to) {
    __shared__ std::int16_t square[warp][warp + 1];
    const unsigned row = blockIdx.x * warp;
    const unsigned channel = blockIdx.y * warp;
    for (unsigned i = threadIdx.y; i < warp; i += turned_rows) {
        const unsigned c = channel + threadIdx.x;
        if (row + i >= p.rows || c >= p.channels) continue;
        square[i][threadIdx.x] =
            scaled(p.traces[std::size_t{row + i} * p.channels + c], p.factors[c], p.limit);
    }
    __syncthreads();
    for (unsigned i = threadIdx.y; i < warp; i += turned_rows)
        if (row + threadIdx.x < p.rows && channel + i < p.channels)
            to[std::size_t{channel + i} * p.rows + row + threadIdx.x] = square[threadIdx.x][i];
}

unsigned grid_for(std::uint64_t items) {
    constexpr std::uint64_t most = 1U << 20U;
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>((items + threads - 1) / threads, 1, most));
}

}  // namespace

void filter_blocks(const filter_problem& problem, const device::stream& on) {
    const unsigned columns = problem.block_count * problem.channels;
    filter_columns<<<(columns + filter_threads - 1) / filter_threads, filter_threads, 0,
                     on.get()>>>(problem);
    device::check(cudaGetLastError());
    if (problem.referenced_count > 0) subtract_medians(problem, on);
}

void filter_forward(const forward_problem& problem, const device::stream& on) {
    filter_columns_forward<<<(problem.channels + filter_threads - 1) / filter_threads,
                             filter_threads, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
}

void subtract_medians(const filter_problem& problem, const device::stream& on) {
    const dim3 grid(grid_for(problem.trace_rows * warp), problem.block_count);
    take_medians<<<grid, threads, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
}

void mix_channels(const mixing_problem& problem, float* to, const device::stream& on) {
    mix<<<grid_for(std::uint64_t{problem.rows} * problem.channels), threads, 0, on.get()>>>(problem,
                                                                                            to);
    device::check(cudaGetLastError());
}

void whiten_rows(const float* from, const float* matrix, std::uint64_t rows, std::uint32_t channels,
                 float* to, const device::stream& on) {
    whiten<<<grid_for(rows * channels), threads, 0, on.get()>>>({from, rows * channels, channels},
                                                                matrix, to);
    device::check(cudaGetLastError());
}

void pick_rows(const float* from, std::uint64_t rows, std::uint32_t channels, float* to,
               const device::stream& on) {
    const std::uint64_t picked = (rows + excerpt_step - 1) / excerpt_step;
    pick<<<grid_for(picked * channels), threads, 0, on.get()>>>({from, picked * channels, channels},
                                                                to);
    device::check(cudaGetLastError());
}

void scale_columns(const scaling_problem& problem, std::int16_t* to, const device::stream& on) {
    const dim3 grid((problem.rows + warp - 1) / warp, (problem.channels + warp - 1) / warp);
    scale<<<grid, dim3(warp, turned_rows), 0, on.get()>>>(problem, to);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::record
