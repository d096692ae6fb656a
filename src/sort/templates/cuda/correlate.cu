// Correlates the traces of a block with all filters.
//
//   work per block    the scores of one filter at 1,024 frames: their projections on its spatial
//                     parts first, then the correlations of these with its temporal parts
//   shared memory     the projections, in 16 bits
//   pays off          always: a frame and filter take some hundred products of integers

#include "sort/templates/cuda/correlate.hpp"
#include "sort/templates/filter_kernels.hpp"
#include "sort/templates/low_rank.hpp"

namespace spikeweave::templates {
namespace {

constexpr unsigned correlating_threads = 256;
constexpr unsigned scores_each = 4;
constexpr unsigned tile = correlating_threads * scores_each;

// Projects frames from `begin` on, as many as the scores of a tile need.
__device__ void project_tile(const correlation_problem& p, const placed_filter& filter,
                             unsigned begin, unsigned width, std::int16_t* seen) {
    for (unsigned i = threadIdx.x; i < width; i += correlating_threads) {
        std::int32_t sums[most_ranks];
#pragma unroll
        for (unsigned r = 0; r < most_ranks; ++r) sums[r] = half_filter;
        if (begin + i < p.frames)
            for (unsigned c = 0; c < filter.channels; ++c) {
                const std::size_t channel = p.channel_numbers[filter.channels_at + c];
                const std::int32_t value = p.traces[channel * p.frames + begin + i];
                const std::int16_t* const weights = p.spatial + filter.spatial_at + c;
#pragma unroll
                for (unsigned r = 0; r < most_ranks; ++r)
                    if (r < filter.ranks) sums[r] += weights[r * filter.channels] * value;
            }
#pragma unroll
        for (unsigned r = 0; r < most_ranks; ++r)
            if (r < filter.ranks)
                seen[r * width + i] = static_cast<std::int16_t>(
                    min(max(sums[r] >> filter_bits, -largest_projection), largest_projection));
    }
}

__global__ void __launch_bounds__(correlating_threads)
    correlate_tile(const __grid_constant__ correlation_problem p,
                   std::int32_t* __restrict__ scores) {
    extern __shared__ std::int16_t seen[];  // ranks x frames
    const placed_filter filter = p.filters[blockIdx.y];
    const unsigned begin = blockIdx.x * tile;
    if (filter.ranks == 0 || begin + filter.frames > p.frames) return;
    const unsigned width = tile + filter.frames - 1;
    project_tile(p, filter, begin, width, seen);
    __syncthreads();

    std::int32_t sums[scores_each];
#pragma unroll
    for (unsigned j = 0; j < scores_each; ++j) sums[j] = half_filter;
    const std::int16_t* weight = p.temporal + filter.temporal_at;
    for (unsigned r = 0; r < filter.ranks; ++r) {
        const std::int16_t* const own = seen + r * width + threadIdx.x;
        for (unsigned k = 0; k < filter.frames; ++k, ++weight)
#pragma unroll
            for (unsigned j = 0; j < scores_each; ++j)
                sums[j] += *weight * own[k + j * correlating_threads];
    }
    std::int32_t* const to = scores + std::size_t{blockIdx.y} * p.frames + p.before;
#pragma unroll
    for (unsigned j = 0; j < scores_each; ++j) {
        const unsigned at = begin + threadIdx.x + j * correlating_threads;
        if (at + filter.frames <= p.frames) to[at] = sums[j] >> filter_bits;
    }
}

}  // namespace

void correlate_all(const correlation_problem& problem, std::int32_t* scores,
                   const device::stream& on) {
    if (problem.filter_count == 0 || problem.frames == 0) return;
    const dim3 grid((problem.frames + tile - 1) / tile, problem.filter_count);
    const std::size_t bytes = most_ranks * (tile + problem.longest) * sizeof(std::int16_t);
    correlate_tile<<<grid, correlating_threads, bytes, on.get()>>>(problem, scores);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::templates
