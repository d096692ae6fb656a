// Cholesky factors of the clusters' covariances, inverted once, so that the density of each spike
// needs only products and no triangular solve, which would proceed row by row.
//
//   work per block    u^3 / 3 multiplications for the root, as many for its inverse and as many for
//                     the inverse of the whole, in products of tiles
//   shared memory     three tiles, 25 KB
//   pays off          always: there is one inverse per cluster, not one per spike

#include <cmath>

#include "sort/masked_gmm/cuda/block_inverse.hpp"
#include "sort/masked_gmm/cuda/block_threads.cuh"
#include "sort/masked_gmm/cuda/device_fits.hpp"

namespace spikeweave::masked_gmm {
namespace {

constexpr unsigned edge = matrix_tile;
constexpr unsigned rows_at_once = threads / edge;
constexpr unsigned rows_each = edge / rows_at_once;
// A tile in shared memory, padded against bank conflicts along columns.
using tile = double[edge][edge + 1];

// The values of a thread: one column of every eighth row, at (row_of(r), column()).
struct part {
    double value[rows_each];
};
__device__ unsigned row_of(unsigned r) {
    return threadIdx.x / edge + r * rows_at_once;
}
__device__ unsigned column() {
    return threadIdx.x % edge;
}

__device__ void load(tile& to, const double* from, unsigned ld) {
#pragma unroll
    for (unsigned r = 0; r < rows_each; ++r)
        to[row_of(r)][column()] = from[std::size_t{row_of(r)} * ld + column()];
}
__device__ void store(const part& from, double* to, unsigned ld) {
#pragma unroll
    for (unsigned r = 0; r < rows_each; ++r)
        to[std::size_t{row_of(r)} * ld + column()] = from.value[r];
}

enum class form : int { plain, right_transposed, left_transposed };

// sum += a b, a b' or a' b.
template <form Form>
__device__ void multiply(part& sum, const tile& a, const tile& b) {
#pragma unroll 8
    for (unsigned k = 0; k < edge; ++k) {
        const double right = Form == form::right_transposed ? b[column()][k] : b[k][column()];
#pragma unroll
        for (unsigned r = 0; r < rows_each; ++r) {
            const double left = Form == form::left_transposed ? a[k][row_of(r)] : a[row_of(r)][k];
            sum.value[r] += left * right;
        }
    }
}

// The addresses of the tiles of one matrix.
struct matrix_view {
    double* at;
    unsigned ld;

    __device__ double* tile_at(unsigned i, unsigned j) const {
        return at + std::size_t{i} * edge * ld + j * edge;
    }
};

struct work_space {
    tile a;
    tile b;
    tile c;
    double log_determinant;
    bool failed;
};

// sum += the product of two tiles in global memory.
template <form Form>
__device__ void multiply(part& sum, const double* a, const double* b, unsigned ld, work_space& at) {
    __syncthreads();
    load(at.a, a, ld);
    load(at.b, b, ld);
    __syncthreads();
    multiply<Form>(sum, at.a, at.b);
}

// Computes the root of `at.c` with the first warp: one lane per row, column by column.
__device__ void find_root(work_space& at) {
    const unsigned row = threadIdx.x;
    double log_determinant = 0;
    bool failed = false;
    for (unsigned j = 0; j < edge; ++j) {
        const double pivot = at.c[j][j];
        if (!(pivot > 0) || isinf(pivot)) failed = true;
        const double root = sqrt(pivot);
        log_determinant += 2 * log(root);
        __syncwarp();
        if (row == j) at.c[j][j] = root;
        if (row > j) at.c[row][j] /= root;
        __syncwarp();
        if (row > j) {
            const double own = at.c[row][j];
            for (unsigned k = j + 1; k <= row; ++k) at.c[row][k] -= own * at.c[k][j];
        }
        __syncwarp();
    }
    if (row == 0) {
        at.log_determinant += log_determinant;
        at.failed = failed;
    }
    __syncwarp();
}

// Writes the inverse of the root in `at.c` to `at.b`, with the first warp: one lane per column.
__device__ void invert_root(work_space& at) {
    const unsigned j = threadIdx.x;
    for (unsigned i = 0; i < edge; ++i) {
        double sum = i == j ? 1 : 0;
        for (unsigned k = j; k < i; ++k) sum -= at.c[i][k] * at.b[k][j];
        at.b[i][j] = i < j ? 0 : sum / at.c[i][i];
    }
    __syncwarp();
}

// Writes the root of the lower triangle to `root`, tile column by tile column. The diagonal tiles
// of `inverse` are set to the inverses of its diagonal tiles.
__device__ bool factor(const matrix_view& covariance, const matrix_view& root,
                       const matrix_view& inverse, unsigned tiles, work_space& at) {
    const unsigned ld = root.ld;
    if (threadIdx.x == 0) {
        at.log_determinant = 0;
        at.failed = false;
    }
    for (unsigned j = 0; j < tiles; ++j) {
        for (unsigned i = j; i < tiles; ++i) {
            part taken{};
            for (unsigned k = 0; k < j; ++k)
                multiply<form::right_transposed>(taken, root.tile_at(i, k), root.tile_at(j, k), ld,
                                                 at);
            __syncthreads();
            load(at.c, covariance.tile_at(i, j), ld);
#pragma unroll
            for (unsigned r = 0; r < rows_each; ++r) at.c[row_of(r)][column()] -= taken.value[r];
            part done{};
            if (i == j) {
                __syncthreads();
                if (threadIdx.x < edge) {
                    find_root(at);
                    if (!at.failed) invert_root(at);
                }
                __syncthreads();
                if (at.failed) return false;
#pragma unroll
                for (unsigned r = 0; r < rows_each; ++r) {
                    done.value[r] = at.b[row_of(r)][column()];
                    inverse.tile_at(j, j)[std::size_t{row_of(r)} * ld + column()] = done.value[r];
                    done.value[r] = column() <= row_of(r) ? at.c[row_of(r)][column()] : 0;
                }
            } else {
                load(at.b, inverse.tile_at(j, j), ld);
                __syncthreads();
                multiply<form::right_transposed>(done, at.c, at.b);
            }
            store(done, root.tile_at(i, j), ld);
            // Other threads read what was stored.
            __syncthreads();
        }
    }
    return true;
}

// Computes the tiles below the diagonal: W_ij = -V_i sum over k of L_ik W_kj.
__device__ void invert_lower(const matrix_view& root, const matrix_view& inverse, unsigned tiles,
                             work_space& at) {
    const unsigned ld = root.ld;
    for (unsigned j = 0; j < tiles; ++j) {
        for (unsigned i = j + 1; i < tiles; ++i) {
            part sum{};
            for (unsigned k = j; k < i; ++k)
                multiply<form::plain>(sum, root.tile_at(i, k), inverse.tile_at(k, j), ld, at);
            __syncthreads();
#pragma unroll
            for (unsigned r = 0; r < rows_each; ++r) at.c[row_of(r)][column()] = -sum.value[r];
            load(at.a, inverse.tile_at(i, i), ld);
            __syncthreads();
            part done{};
            multiply<form::plain>(done, at.a, at.c);
            store(done, inverse.tile_at(i, j), ld);
            __syncthreads();
        }
    }
}

// Computes product = W' W, both triangles. W has no tiles above the diagonal yet; they are set to
// 0.
__device__ void square(const matrix_view& inverse, const matrix_view& product, unsigned tiles,
                       work_space& at) {
    const unsigned ld = inverse.ld;
    for (unsigned i = 0; i < tiles; ++i) {
        for (unsigned j = 0; j <= i; ++j) {
            part sum{};
            for (unsigned k = i; k < tiles; ++k)
                multiply<form::left_transposed>(sum, inverse.tile_at(k, i), inverse.tile_at(k, j),
                                                ld, at);
            store(sum, product.tile_at(i, j), ld);
            if (i == j) continue;
#pragma unroll
            for (unsigned r = 0; r < rows_each; ++r) {
                product.tile_at(j, i)[std::size_t{column()} * ld + row_of(r)] = sum.value[r];
                inverse.tile_at(j, i)[std::size_t{row_of(r)} * ld + column()] = 0;
            }
        }
    }
}

__global__ void __launch_bounds__(threads) invert_each(const matrices_to_invert p) {
    __shared__ work_space at;
    const unsigned size = p.size[blockIdx.x];
    if (size == 0) {
        if (threadIdx.x == 0) p.log_determinant[blockIdx.x] = 0;
        return;
    }
    const unsigned tiles = device_fits::edge_of(size) / edge;
    const unsigned ld = tiles * edge;
    const std::uint64_t begin = p.matrix[blockIdx.x];
    const matrix_view covariance{p.covariance + begin, ld};
    const matrix_view root{p.inverse + begin, ld};
    const matrix_view inverse{p.root_inverse + begin, ld};
    bool done = factor(covariance, root, inverse, tiles, at);
    if (!done) {
        __syncthreads();
        for (unsigned b = threadIdx.x; b < size; b += threads)
            covariance.at[std::size_t{b} * ld + b] +=
                p.more[std::size_t{blockIdx.x} * p.stride + b];
        __syncthreads();
        done = factor(covariance, root, inverse, tiles, at);
    }
    if (threadIdx.x == 0)
        p.log_determinant[blockIdx.x] =
            done ? at.log_determinant : __longlong_as_double(0x7ff0000000000000LL);
    if (!done) return;
    invert_lower(root, inverse, tiles, at);
    square(inverse, {p.inverse + begin, ld}, tiles, at);
}

}  // namespace

void invert(const matrices_to_invert& what, const device::stream& on) {
    if (what.count == 0) return;
    invert_each<<<what.count, threads, 0, on.get()>>>(what);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::masked_gmm
