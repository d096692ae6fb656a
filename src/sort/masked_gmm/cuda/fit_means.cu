// The means of clusters: sums over their members, in pieces of a fixed order.

#include <algorithm>

#include "sort/masked_gmm/cuda/block_threads.cuh"
#include "sort/masked_gmm/cuda/device_fits.hpp"
#include "sort/masked_gmm/cuda/member_pieces.hpp"

namespace spikeweave::masked_gmm {
namespace {

// These numbers are part of the definition of the sums.
constexpr unsigned sums_each = 4;
constexpr std::size_t piece_spikes = 256;

// Sums deltas, masks, etas and squared deltas of a piece for each feature: one warp per piece, one
// lane per entry of a spike.
__global__ void __launch_bounds__(warp)
    sum_pieces(const device_rows rows, const std::uint32_t* __restrict__ members,
               const piece* __restrict__ pieces, double* __restrict__ sums) {
    extern __shared__ double own[];
    const std::uint32_t features = rows.features;
    for (std::uint32_t i = threadIdx.x; i < sums_each * features; i += warp) own[i] = 0;
    __syncwarp();
    const piece at = pieces[blockIdx.x];
    for (std::uint32_t s = at.begin; s < at.end; ++s) {
        const std::uint32_t n = members[s];
        const std::uint64_t end = rows.begin[n + 1];
        for (std::uint64_t e = rows.begin[n] + threadIdx.x; e < end; e += warp) {
            const std::uint32_t i = rows.columns[e];
            const double delta = rows.deltas[e];
            own[i] += delta;
            own[features + i] += rows.masks[e];
            own[2 * features + i] += rows.etas[e];
            own[3 * features + i] += delta * delta;
        }
        __syncwarp();
    }
    for (std::uint32_t i = threadIdx.x; i < sums_each * features; i += warp)
        sums[std::size_t{blockIdx.x} * sums_each * features + i] = own[i];
}

struct means {
    std::uint32_t features;
    const double* sums;
    const std::uint32_t* first_piece;  // of each cluster, and one more
    const double* counts;
    double prior;
    double points;
    bool exact;
    double* mean;
    double* eta;
    double* more_variance;  // of features outside the block, beyond that of the noise
    std::int32_t* block_index;
    std::uint32_t* block;
    std::uint32_t* size;
};

// Uses one block per cluster.
__global__ void __launch_bounds__(threads) find_each_mean(const means p) {
    __shared__ std::uint32_t in_warp[warps];
    const std::uint32_t k = blockIdx.x;
    const std::size_t row = std::size_t{k} * p.features;
    std::uint32_t size = 0;
    for (std::uint32_t base = 0; base < p.features; base += threads) {
        const std::uint32_t i = base + threadIdx.x;
        double delta = 0;
        double mask = 0;
        double eta = 0;
        double square = 0;
        if (i < p.features) {
            for (std::uint32_t c = p.first_piece[k]; c < p.first_piece[k + 1]; ++c) {
                const double* const sums = p.sums + std::size_t{c} * sums_each * p.features + i;
                delta += sums[0];
                mask += sums[p.features];
                eta += sums[2 * std::size_t{p.features}];
                square += sums[3 * std::size_t{p.features}];
            }
            const double count = p.counts[k];
            const double mean = delta / (count + p.prior);
            p.mean[row + i] = mean;
            p.eta[row + i] = eta;
            p.more_variance[row + i] =
                p.exact
                    ? (eta + square - mean * mean * (count + 2 * p.prior)) / (count + p.prior - 1)
                    : 0;
        }
        const bool inside = i < p.features && mask >= p.points;
        const unsigned votes = __ballot_sync(0xffffffffU, inside);
        const unsigned lane = threadIdx.x % warp;
        __syncthreads();
        if (lane == 0) in_warp[threadIdx.x / warp] = __popc(votes);
        __syncthreads();
        std::uint32_t at = size + __popc(votes & ((1U << lane) - 1));
        for (unsigned w = 0; w < warps; ++w) {
            if (w < threadIdx.x / warp) at += in_warp[w];
            size += in_warp[w];
        }
        if (i < p.features) p.block_index[row + i] = inside ? static_cast<std::int32_t>(at) : -1;
        if (inside) p.block[row + at] = i;
    }
    if (threadIdx.x == 0) p.size[k] = size;
}

}  // namespace

std::size_t fitter::most_features(const device::device_limits& limits) {
    return limits.shared_bytes_per_block_at_most / (sums_each * sizeof(double));
}

void fitter::allow_sums(const device_rows& rows) {
    device::check(
        cudaFuncSetAttribute(sum_pieces, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sums_each * rows.features * sizeof(double))));
}

void fitter::find_means(const member_lists& members, const device::stream& on) {
    const device_rows rows = data_->rows();
    std::vector<piece> pieces;
    std::vector<std::uint32_t> first{0};
    for (std::size_t k = 0; k < clusters_; ++k) {
        const std::vector<piece> own = pieces_of(members, k, piece_spikes);
        pieces.insert(pieces.end(), own.begin(), own.end());
        first.push_back(static_cast<std::uint32_t>(pieces.size()));
    }
    make_room(sums_, pieces.size() * sums_each * rows.features, on);
    const device::buffer<piece> uploaded(pieces, on);
    const device::buffer<std::uint32_t> first_piece(first, on);
    sum_pieces<<<static_cast<unsigned>(pieces.size()), warp,
                 sums_each * rows.features * sizeof(double), on.get()>>>(
        rows, spikes_.data(), uploaded.data(), sums_.data());
    device::check(cudaGetLastError());
    find_each_mean<<<clusters_, threads, 0, on.get()>>>(
        {rows.features, sums_.data(), first_piece.data(), counts_.data(), prior_, points_, exact_,
         mean_.data(), eta_.data(), more_variance_.data(), block_index_.data(), block_.data(),
         size_.data()});
    device::check(cudaGetLastError());
    summary_.size.resize(clusters_);
    size_.download(summary_.size);
    on.wait();
    summary_.largest = *std::max_element(summary_.size.begin(), summary_.size.end());
}

}  // namespace spikeweave::masked_gmm
