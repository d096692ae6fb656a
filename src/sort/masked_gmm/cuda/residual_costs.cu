// Computes the costs of spikes in single clusters: the residual of each spike times the inverse
// root.
//
//   work per block    u^2 / 2 multiplications for each of up to 32 spikes of one cluster
//   shared memory     the residuals, u x 33 numbers; for blocks of more than about 800 features
//                     they do not fit and are kept in global memory instead
//   pays off          if only one or two clusters matter for a spike (the halves of a split), or if
//                     the terms of the E-step's products would cancel

#include <algorithm>

#include "sort/masked_gmm/cuda/block_threads.cuh"
#include "sort/masked_gmm/cuda/residual_costs.hpp"

namespace spikeweave::masked_gmm {
namespace {

constexpr unsigned root_rows_each = 4;
constexpr unsigned row_numbers = warp + 1;  // padded against bank conflicts along rows
constexpr std::size_t beside = 4096;        // bytes of shared memory for other data
constexpr std::size_t blocks_in_memory = 1024;

struct batch {
    std::uint32_t cluster;
    std::uint32_t first;  // first spike and first cost
    std::uint32_t count;
};

// Fills in the residuals in the block, one lane per spike, and for each spike the contribution of
// the features outside the block and of the etas.
__device__ void fill(const device_rows& rows, const device_fits& fits, const batch& at,
                     const std::uint32_t* spikes, double* residuals, double (&besides)[warp]) {
    const unsigned lane = threadIdx.x % warp;
    const std::size_t row = std::size_t{at.cluster} * fits.features;
    const std::uint32_t size = fits.size[at.cluster];
    const std::uint32_t edge = device_fits::edge_of(size);
    for (std::uint32_t b = threadIdx.x / warp; b < edge; b += warps)
        residuals[b * row_numbers + lane] = b < size ? -fits.mean[row + fits.block[row + b]] : 0;
    __syncthreads();
    for (unsigned s = threadIdx.x / warp; s < at.count; s += warps) {
        const std::uint32_t n = spikes[at.first + s];
        double sum = 0;
        const std::uint64_t end = rows.begin[n + 1];
        for (std::uint64_t e = rows.begin[n] + lane; e < end; e += warp) {
            const std::uint32_t i = rows.columns[e];
            const double delta = rows.deltas[e];
            const double inverse = fits.inverse_diagonal[row + i];
            const std::int32_t b = fits.block_index[row + i];
            sum += rows.etas[e] * inverse;
            if (b < 0) {
                sum += delta * (delta - 2 * fits.mean[row + i]) * inverse;
            } else {
                residuals[static_cast<unsigned>(b) * row_numbers + s] += delta;
            }
        }
        for (unsigned away = warp / 2; away > 0; away /= 2)
            sum += __shfl_down_sync(0xffffffffU, sum, away);
        if (lane == 0) besides[s] = sum;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(threads, 2)
    find_costs(const device_rows rows, const device_fits fits, const batch* __restrict__ batches,
               const std::uint32_t* __restrict__ spikes, double* scratch, std::size_t scratch_each,
               double* __restrict__ costs) {
    extern __shared__ double shared_residuals[];
    double* const residuals =
        scratch == nullptr ? shared_residuals : scratch + std::size_t{blockIdx.x} * scratch_each;
    __shared__ double besides[warp];
    __shared__ double squares[warps][warp];
    const batch at = batches[blockIdx.x];
    const double plain = fits.plain[at.cluster];
    const unsigned lane = threadIdx.x % warp;
    const unsigned own_warp = threadIdx.x / warp;
    if (isinf(plain)) {
        if (threadIdx.x < at.count) costs[at.first + threadIdx.x] = plain;
        return;
    }
    fill(rows, fits, at, spikes, residuals, besides);
    const std::uint32_t edge = device_fits::edge_of(fits.size[at.cluster]);
    const double* const root = fits.root_inverse + fits.matrix[at.cluster];
    double square = 0;
    for (std::uint32_t b = own_warp * root_rows_each; b < edge; b += warps * root_rows_each) {
        double sum[root_rows_each] = {};
        const double* const row = root + std::size_t{b} * edge;
        for (std::uint32_t j = 0; j < b + root_rows_each; j += 2) {
            const double near = residuals[j * row_numbers + lane];
            const double far = residuals[(j + 1) * row_numbers + lane];
#pragma unroll
            for (unsigned r = 0; r < root_rows_each; ++r) {
                const double2 two =
                    *reinterpret_cast<const double2*>(row + std::size_t{r} * edge + j);
                sum[r] += two.x * near;
                sum[r] += two.y * far;
            }
        }
#pragma unroll
        for (unsigned r = 0; r < root_rows_each; ++r) square += sum[r] * sum[r];
    }
    squares[own_warp][lane] = square;
    __syncthreads();
    if (threadIdx.x >= at.count) return;
    double sum = fits.at_noise_outside[at.cluster] + besides[lane];
    for (unsigned w = 0; w < warps; ++w) sum += squares[w][lane];
    costs[at.first + lane] = plain + sum / 2;
}

}  // namespace

residual_costs::residual_costs(const resident_data& data, int ordinal)
    : data_(&data),
      shared_bytes_(device::limits_of(ordinal).shared_bytes_per_block_at_most - beside) {
    device::check(cudaFuncSetAttribute(find_costs, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shared_bytes_)));
}

std::vector<double> residual_costs::of(const device_fits& fits, std::uint32_t largest_block,
                                       std::span<const cost_question> questions,
                                       const device::stream& on) {
    std::vector<batch> batches;
    std::vector<std::uint32_t> spikes;
    for (const cost_question& one : questions) {
        for (std::size_t at = 0; at < one.spikes.size(); at += warp)
            batches.push_back(
                {one.cluster, static_cast<std::uint32_t>(spikes.size() + at),
                 static_cast<std::uint32_t>(std::min<std::size_t>(warp, one.spikes.size() - at))});
        spikes.insert(spikes.end(), one.spikes.begin(), one.spikes.end());
    }
    if (spikes.empty()) return {};
    make_room(spikes_, spikes.size(), on);
    spikes_.upload(spikes);
    make_room(costs_, spikes.size(), on);
    const device::buffer<batch> uploaded(batches, on);
    const std::size_t scratch_each = std::size_t{device_fits::edge_of(largest_block)} * row_numbers;
    const bool fits_in = scratch_each * sizeof(double) <= shared_bytes_;
    const std::size_t at_once = fits_in ? batches.size() : blocks_in_memory;
    if (!fits_in) make_room(scratch_, std::min(at_once, batches.size()) * scratch_each, on);
    for (std::size_t at = 0; at < batches.size(); at += at_once) {
        const auto blocks = static_cast<unsigned>(std::min(at_once, batches.size() - at));
        find_costs<<<blocks, threads, fits_in ? scratch_each * sizeof(double) : 0, on.get()>>>(
            data_->rows(), fits, uploaded.data() + at, spikes_.data(),
            fits_in ? nullptr : scratch_.data(), scratch_each, costs_.data());
        device::check(cudaGetLastError());
    }
    std::vector<double> costs(spikes.size());
    costs_.download(std::span{costs});
    on.wait();
    return costs;
}

}  // namespace spikeweave::masked_gmm
