#include "sort/masked_gmm/cuda/coefficients.cuh"

#include <algorithm>

#include "sort/masked_gmm/cuda/block_threads.cuh"
#include "sort/masked_gmm/cuda/tensor_product.cuh"

namespace spikeweave::masked_gmm::gathered_terms {
namespace {

__device__ double coefficient_of_pair(const device_fits& fits, unsigned cluster,
                                      const std::uint32_t* columns, unsigned features,
                                      unsigned pair) {
    const unsigned a = pair & 0xffffU;
    const unsigned b = pair >> 16;
    if (b > features) return 0;
    const std::size_t row = std::size_t{cluster} * fits.features;
    const std::uint32_t right = columns[b - 1];
    if (a == 0) return -fits.inverse_times_mean[row + right];
    const std::int32_t i = fits.block_index[row + columns[a - 1]];
    const std::int32_t j = fits.block_index[row + right];
    if (i < 0 || j < 0) return 0;
    const unsigned edge = device_fits::edge_of(fits.size[cluster]);
    return fits.inverse[fits.matrix[cluster] + std::size_t{static_cast<unsigned>(j)} * edge +
                        static_cast<unsigned>(i)];
}

// Gathers the coefficients of a group in the order in which the lanes of the product read them:
// each warp has 16 terms of 8 clusters.
template <class Real>
__global__ void __launch_bounds__(threads) gather(const gathering p, const device_fits fits) {
    const device_group group = p.groups[blockIdx.y];
    const std::uint32_t* const columns = p.columns + group.first_column;
    const unsigned of_products = product_steps(group.features);
    const unsigned fragments = steps(group.features) * p.column_products;
    const unsigned lane = threadIdx.x % warp;
    for (unsigned f = blockIdx.x * warps + threadIdx.x / warp; f < fragments;
         f += gridDim.x * warps) {
        const unsigned step = f / p.column_products;
        const unsigned cluster = f % p.column_products * columns_at_once + lane / 4;
        double found[4] = {};
        if (cluster < fits.clusters && !isinf(p.plain[cluster])) {
            if (step < of_products) {
                const uint4 pair = p.pairs[step * 4 + lane % 4];
                const unsigned codes[4] = {pair.x, pair.y, pair.z, pair.w};
#pragma unroll
                for (unsigned i = 0; i < 4; ++i)
                    found[i] =
                        coefficient_of_pair(fits, cluster, columns, group.features, codes[i]);
            } else {
                const std::size_t row = std::size_t{cluster} * fits.features;
#pragma unroll
                for (unsigned i = 0; i < 4; ++i) {
                    const unsigned own = (step - of_products) * step_terms + lane % 4 + 4 * i;
                    if (own < group.features)
                        found[i] = fits.inverse_diagonal[row + columns[own]] / 2;
                }
            }
        }
        using coefficient = typename tensor_product<Real>::coefficient;
        auto* const into = reinterpret_cast<coefficient*>(p.coefficients + p.begin[blockIdx.y] +
                                                          std::size_t{f} * fragment_numbers) +
                           2 * lane;
#pragma unroll
        for (unsigned i = 0; i < 4; ++i)
            into[i / 2 * 2 * warp + i % 2] = tensor_product<Real>::split(found[i]);
    }
}

}  // namespace

template <class Real>
void gather_all(const gathering& problem, const device_fits& fits, unsigned groups,
                const device::stream& on) {
    constexpr unsigned most_blocks = 1024;
    const unsigned blocks = std::clamp(4 * most_blocks / groups, 16U, most_blocks);
    gather<Real><<<dim3(blocks, groups), threads, 0, on.get()>>>(problem, fits);
    device::check(cudaGetLastError());
}

template void gather_all<float>(const gathering&, const device_fits&, unsigned,
                                const device::stream&);
template void gather_all<double>(const gathering&, const device_fits&, unsigned,
                                 const device::stream&);

}  // namespace spikeweave::masked_gmm::gathered_terms
