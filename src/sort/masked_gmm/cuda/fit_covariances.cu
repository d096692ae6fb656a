// The covariances of clusters: products of the residuals of their members, summed in pieces of a
// fixed order.

#include <algorithm>

#include "sort/masked_gmm/cuda/block_threads.cuh"
#include "sort/masked_gmm/cuda/device_fits.hpp"
#include "sort/masked_gmm/cuda/member_pieces.hpp"

namespace spikeweave::masked_gmm {
namespace {

// These numbers are part of the definition of the sums.
constexpr std::size_t least_scatter_spikes = 1024;
constexpr std::size_t most_scatter_pieces = 16;
// Most numbers held at once for the sums of covariances.
constexpr std::uint64_t most_scatter_numbers = std::uint64_t{1} << 27;
constexpr unsigned scatter_tile = 64;
constexpr unsigned scatter_spikes = 32;
constexpr unsigned side = 16;                   // threads along a tile's edge
constexpr unsigned each = scatter_tile / side;  // rows and columns per thread
using residual_tile = double[scatter_spikes][scatter_tile + 1];

struct scatter_piece {
    piece what;
    std::uint32_t tile_row;
    std::uint32_t tile_column;
    std::uint64_t into;  // first number of the piece's matrix
};

// Computes the residuals of spikes in 64 features of the block; one warp per spike.
__device__ void fill_residuals(const device_rows& rows, const device_fits& fits, std::uint32_t k,
                               const std::uint32_t* members, unsigned count, std::uint32_t first,
                               residual_tile& out) {
    const std::size_t row = std::size_t{k} * fits.features;
    const std::uint32_t size = fits.size[k];
    const unsigned lane = threadIdx.x % warp;
    for (unsigned s = threadIdx.x / warp; s < scatter_spikes; s += warps) {
        for (unsigned b = lane; b < scatter_tile; b += warp)
            out[s][b] =
                s < count && first + b < size ? -fits.mean[row + fits.block[row + first + b]] : 0;
        __syncwarp();
        if (s >= count) continue;
        const std::uint32_t n = members[s];
        const std::uint64_t end = rows.begin[n + 1];
        for (std::uint64_t e = rows.begin[n] + lane; e < end; e += warp) {
            const auto b =
                static_cast<std::uint32_t>(fits.block_index[row + rows.columns[e]]) - first;
            if (b < scatter_tile) out[s][b] += rows.deltas[e];
        }
    }
}

// Sums the products of residuals of a piece in one tile of the lower triangle.
__global__ void __launch_bounds__(threads)
    sum_squares(const device_rows rows, const device_fits fits,
                const std::uint32_t* __restrict__ members, const scatter_piece* __restrict__ pieces,
                double* __restrict__ scatter) {
    __shared__ residual_tile left;
    __shared__ residual_tile right;
    const scatter_piece at = pieces[blockIdx.x];
    const bool diagonal = at.tile_row == at.tile_column;
    const unsigned x = threadIdx.x % side;
    const unsigned y = threadIdx.x / side;
    double sum[each][each] = {};
    for (std::uint32_t s = at.what.begin; s < at.what.end; s += scatter_spikes) {
        const unsigned count = min(scatter_spikes, at.what.end - s);
        __syncthreads();
        fill_residuals(rows, fits, at.what.cluster, members + s, count, at.tile_row * scatter_tile,
                       left);
        if (!diagonal)
            fill_residuals(rows, fits, at.what.cluster, members + s, count,
                           at.tile_column * scatter_tile, right);
        __syncthreads();
        const residual_tile& other = diagonal ? left : right;
#pragma unroll 4
        for (unsigned j = 0; j < scatter_spikes; ++j) {
            double a[each];
            double b[each];
#pragma unroll
            for (unsigned r = 0; r < each; ++r) {
                a[r] = left[j][y + r * side];
                b[r] = other[j][x + r * side];
            }
#pragma unroll
            for (unsigned r = 0; r < each; ++r)
#pragma unroll
                for (unsigned c = 0; c < each; ++c) sum[r][c] += a[r] * b[c];
        }
    }
    const std::uint32_t edge = device_fits::edge_of(fits.size[at.what.cluster]);
#pragma unroll
    for (unsigned r = 0; r < each; ++r) {
#pragma unroll
        for (unsigned c = 0; c < each; ++c) {
            const std::uint32_t i = at.tile_row * scatter_tile + y + r * side;
            const std::uint32_t j = at.tile_column * scatter_tile + x + c * side;
            if (i < edge && j < edge) scatter[at.into + std::size_t{i} * edge + j] = sum[r][c];
        }
    }
}

struct covariances {
    const double* scatter;
    const std::uint64_t* first;   // first number of the matrices of each cluster's pieces
    const std::uint32_t* pieces;  // number of pieces of each cluster
    const double* counts;
    const double* eta;
    const double* noise_variance;
    double prior;
    std::uint32_t from;  // the first cluster
    double* covariance;
};

// Each block adds up 32 rows of a cluster's matrix.
__global__ void __launch_bounds__(threads)
    add_up_squares(const covariances p, const device_fits fits) {
    const std::uint32_t k = p.from + blockIdx.x;
    const std::uint32_t size = fits.size[k];
    const std::uint32_t edge = device_fits::edge_of(size);
    const std::size_t row = std::size_t{k} * fits.features;
    const double count = p.counts[k];
    const double divisor = count + p.prior - 1;
    for (std::uint32_t at = blockIdx.y * matrix_tile * edge + threadIdx.x;
         at < min((blockIdx.y + 1) * matrix_tile, edge) * edge; at += threads) {
        const std::uint32_t i = at / edge;
        const std::uint32_t j = at % edge;
        if (j > i) continue;
        double value = i == j ? 1 : 0;
        if (i < size) {
            double sum = 0;
            for (std::uint32_t c = 0; c < p.pieces[blockIdx.x]; ++c)
                sum += p.scatter[p.first[blockIdx.x] + std::size_t{c} * edge * edge + at];
            if (i == j) {
                const std::uint32_t feature = fits.block[row + i];
                sum += p.eta[row + feature] + (count + p.prior) * p.noise_variance[feature];
            }
            value = sum / divisor;
        }
        p.covariance[fits.matrix[k] + at] = value;
    }
}

// Computes what is added to a diagonal if rounding made it invalid: ten times the prior's part.
__global__ void __launch_bounds__(threads)
    find_more(const device_fits fits, const double* __restrict__ counts,
              const double* __restrict__ noise_variance, double prior, double* __restrict__ more) {
    constexpr double times = 10;
    const std::uint32_t k = blockIdx.x;
    const std::size_t row = std::size_t{k} * fits.features;
    for (std::uint32_t b = threadIdx.x; b < fits.size[k]; b += threads)
        more[row + b] =
            times * prior * noise_variance[fits.block[row + b]] / (counts[k] + prior - 1);
}

// Pieces of clusters [from, to), whose sums are held together.
struct scatter_batch {
    std::uint32_t from;
    std::uint32_t to;
    std::vector<scatter_piece> pieces{};
    std::vector<std::uint64_t> first{};  // first number of the matrices of each cluster's pieces
    std::vector<std::uint32_t> count{};  // number of pieces of each cluster
    std::uint64_t numbers = 0;
    std::uint32_t largest_edge = 0;
};

// Takes as many clusters at once as there is memory for their pieces.
scatter_batch scatter_batch_from(std::uint32_t from, const member_lists& members,
                                 const std::vector<std::uint32_t>& sizes) {
    scatter_batch batch{from, from};
    for (; batch.to < sizes.size(); ++batch.to) {
        const std::uint32_t k = batch.to;
        const std::uint64_t edge = device_fits::edge_of(sizes[k]);
        const std::vector<piece> own = pieces_of(
            members, k,
            std::max(least_scatter_spikes, members.of(k).size() / most_scatter_pieces + 1));
        if (k > from && batch.numbers + own.size() * edge * edge > most_scatter_numbers) break;
        batch.first.push_back(batch.numbers);
        batch.count.push_back(static_cast<std::uint32_t>(own.size()));
        batch.largest_edge = std::max(batch.largest_edge, static_cast<std::uint32_t>(edge));
        const auto tiles = static_cast<std::uint32_t>((edge + scatter_tile - 1) / scatter_tile);
        for (const piece& one : own) {
            for (std::uint32_t i = 0; i < tiles; ++i)
                for (std::uint32_t j = 0; j <= i; ++j)
                    batch.pieces.push_back({one, i, j, batch.numbers});
            batch.numbers += edge * edge;
        }
    }
    return batch;
}

}  // namespace

void fitter::find_covariances(const member_lists& members, const device::stream& on) {
    const device_rows rows = data_->rows();
    matrix_at_.clear();
    std::uint64_t numbers = 0;
    for (const std::uint32_t size : summary_.size) {
        matrix_at_.push_back(numbers);
        numbers += std::uint64_t{device_fits::edge_of(size)} * device_fits::edge_of(size);
    }
    matrix_.upload(matrix_at_);
    for (device::buffer<double>* const one : {&covariance_, &root_inverse_, &inverse_})
        make_room(*one, numbers, on);

    for (std::uint32_t from = 0; from < clusters_;) {
        const scatter_batch batch = scatter_batch_from(from, members, summary_.size);
        from = batch.to;
        if (batch.pieces.empty()) continue;
        make_room(scatter_, batch.numbers, on);
        const device::buffer<scatter_piece> pieces(batch.pieces, on);
        const device::buffer<std::uint64_t> first(batch.first, on);
        const device::buffer<std::uint32_t> count(batch.count, on);
        sum_squares<<<static_cast<unsigned>(batch.pieces.size()), threads, 0, on.get()>>>(
            rows, fits(), spikes_.data(), pieces.data(), scatter_.data());
        device::check(cudaGetLastError());
        add_up_squares<<<dim3(batch.to - batch.from, batch.largest_edge / matrix_tile), threads, 0,
                         on.get()>>>(
            {scatter_.data(), first.data(), count.data(), counts_.data(), eta_.data(),
             rows.noise_variance, prior_, batch.from, covariance_.data()},
            fits());
        device::check(cudaGetLastError());
    }
}

double* fitter::find_more_variance(const device::stream& on) {
    // The products of inverses and means are not computed yet, so their memory can hold what may be
    // added to diagonals.
    find_more<<<clusters_, threads, 0, on.get()>>>(
        fits(), counts_.data(), data_->rows().noise_variance, prior_, inverse_times_mean_.data());
    device::check(cudaGetLastError());
    return inverse_times_mean_.data();
}

}  // namespace spikeweave::masked_gmm
