// The M-step for sparse spikes: sums over the members of each cluster, in pieces of a fixed order.
//
//   work per block    a piece of a cluster: the unmasked features of its spikes for the means, a
//                     tile of the block's products of features for the covariances
//   shared memory     4 numbers per feature for the means; two tiles of residuals, 33 KB
//   pays off          always: it takes a small part of the time of the E-step, which evaluates
//                     every cluster for every spike

#include <algorithm>
#include <cmath>

#include "sort/masked_gmm/cuda/block_inverse.hpp"
#include "sort/masked_gmm/cuda/device_fits.hpp"

namespace spikeweave::masked_gmm {
namespace {

constexpr unsigned warp = 32;
constexpr unsigned threads = 256;
constexpr unsigned warps = threads / warp;
// These numbers are part of the definition of the sums.
constexpr unsigned sums_each = 4;
constexpr std::size_t piece_spikes = 256;
constexpr std::size_t least_scatter_spikes = 1024;
constexpr std::size_t most_scatter_pieces = 16;
// Most numbers held at once for the sums of covariances.
constexpr std::uint64_t most_scatter_numbers = std::uint64_t{1} << 27;

// Members [begin, end) of a cluster.
struct piece {
    std::uint32_t cluster;
    std::uint32_t begin;
    std::uint32_t end;
};

std::vector<piece> pieces_of(const member_lists& members, std::size_t cluster, std::size_t size) {
    std::vector<piece> all;
    const std::size_t end = members.begin[cluster + 1];
    for (std::size_t at = members.begin[cluster]; at < end; at += size)
        all.push_back({static_cast<std::uint32_t>(cluster), static_cast<std::uint32_t>(at),
                       static_cast<std::uint32_t>(std::min(at + size, end))});
    return all;
}

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
    std::int32_t* place;
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
        if (i < p.features) p.place[row + i] = inside ? static_cast<std::int32_t>(at) : -1;
        if (inside) p.block[row + at] = i;
    }
    if (threadIdx.x == 0) p.size[k] = size;
}

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
            const auto b = static_cast<std::uint32_t>(fits.place[row + rows.columns[e]]) - first;
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

// Returns the sum over a block of threads, added in a fixed order.
__device__ double block_sum(double own, double (&room)[threads]) {
    __syncthreads();
    room[threadIdx.x] = own;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
    }
    __syncthreads();
    return room[0];
}

struct derived {
    const double* counts;
    const double* noise_variance;
    const double* more_variance;
    const double* log_determinant;
    double prior;
    double* inverse_diagonal;
    double* inverse_times_mean;
    double* plain;
    double* at_noise;
    double* at_noise_outside;
    double* cancelling;
};

// Computes everything that an E-step needs of a cluster besides its matrices.
__global__ void __launch_bounds__(threads) derive(const derived p, const device_fits fits) {
    __shared__ double room[threads];
    const std::uint32_t k = blockIdx.x;
    const std::size_t row = std::size_t{k} * fits.features;
    const std::uint32_t size = fits.size[k];
    const std::uint32_t edge = device_fits::edge_of(size);
    const double scale = (p.counts[k] + p.prior) / (p.counts[k] + p.prior - 1);
    const double* const root_inverse = fits.root_inverse + fits.matrix[k];
    const double* const inverse = fits.inverse + fits.matrix[k];
    double log_determinant = 0;
    double traced = 0;
    double outside = 0;
    double cancelling = 0;
    double inside = 0;
    for (std::uint32_t i = threadIdx.x; i < fits.features; i += threads) {
        const std::int32_t at = fits.place[row + i];
        const double mean = fits.mean[row + i];
        double diagonal = 0;
        double product = 0;
        if (at < 0) {
            const double variance = p.noise_variance[i] * scale + p.more_variance[row + i];
            log_determinant += log(variance);
            diagonal = 1 / variance;
            product = mean / variance;
            outside += mean * product;
        } else {
            const auto own = static_cast<std::uint32_t>(at);
            diagonal = inverse[std::size_t{own} * edge + own];
            double rooted = 0;
            for (std::uint32_t b = 0; b < size; ++b) {
                // The inverse is symmetric; in this order neighbouring threads read neighbouring
                // numbers.
                const double of_b = fits.mean[row + fits.block[row + b]];
                product += inverse[std::size_t{b} * edge + own] * of_b;
                if (b <= own) rooted += root_inverse[std::size_t{own} * edge + b] * of_b;
            }
            inside += rooted * rooted;
        }
        p.inverse_diagonal[row + i] = diagonal;
        p.inverse_times_mean[row + i] = product;
        traced += diagonal * p.noise_variance[i];
        cancelling += diagonal * mean * mean;
    }
    log_determinant = block_sum(log_determinant, room);
    traced = block_sum(traced, room);
    outside = block_sum(outside, room);
    cancelling = block_sum(cancelling, room);
    inside = block_sum(inside, room);
    if (threadIdx.x != 0) return;
    if (isinf(p.log_determinant[k])) {  // the inverse that was read is not valid
        p.plain[k] = p.log_determinant[k];
        p.at_noise[k] = p.at_noise_outside[k] = p.cancelling[k] = 0;
        return;
    }
    constexpr double log_two_pi = 1.8378770664093453;
    p.plain[k] = (log_determinant + p.log_determinant[k] + traced + fits.features * log_two_pi) / 2;
    p.at_noise[k] = outside + inside;
    p.at_noise_outside[k] = outside;
    p.cancelling[k] = cancelling;
}

constexpr std::size_t numbers_each = 4;

}  // namespace

bool fit_summary::dead(std::size_t cluster) const {
    return std::isinf(plain[cluster]);
}

std::size_t fitter::most_features(const device::device_limits& limits) {
    return limits.shared_bytes_per_block_at_most / (sums_each * sizeof(double));
}

fitter::fitter(const resident_data& data, const masked_gmm_options& options)
    : data_(&data),
      prior_(options.prior_point),
      points_(options.points_for_cluster_mask),
      exact_(options.exact_variances) {
    const device_rows rows = data.rows();
    device::check(
        cudaFuncSetAttribute(sum_pieces, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sums_each * rows.features * sizeof(double))));
}

device_fits fitter::fits() const {
    const double* const numbers = numbers_.data();
    return {clusters_,
            data_->rows().features,
            mean_.data(),
            inverse_diagonal_.data(),
            inverse_times_mean_.data(),
            place_.data(),
            block_.data(),
            size_.data(),
            matrix_.data(),
            covariance_.data(),
            root_inverse_.data(),
            inverse_.data(),
            numbers,
            numbers + clusters_,
            numbers + 2 * std::size_t{clusters_},
            numbers + 3 * std::size_t{clusters_}};
}

const fit_summary& fitter::fit(const member_lists& members, const device::stream& on) {
    clusters_ = static_cast<std::uint32_t>(members.size());
    const std::size_t numbers = std::size_t{clusters_} * data_->rows().features;
    make_room(spikes_, members.spikes.size(), on);
    spikes_.upload(members.spikes);
    std::vector<double> counts;
    counts.reserve(clusters_);
    for (std::size_t k = 0; k < clusters_; ++k)
        counts.push_back(static_cast<double>(members.of(k).size()));
    make_room(counts_, clusters_, on);
    counts_.upload(counts);
    for (device::buffer<double>* const one :
         {&mean_, &eta_, &more_variance_, &inverse_diagonal_, &inverse_times_mean_})
        make_room(*one, numbers, on);
    make_room(place_, numbers, on);
    make_room(block_, numbers, on);
    make_room(size_, clusters_, on);
    make_room(matrix_, clusters_, on);
    make_room(numbers_, numbers_each * clusters_, on);
    if (clusters_ == 0) return summary_ = {};
    find_means(members, on);
    find_blocks(members, on);
    return summary_;
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
         mean_.data(), eta_.data(), more_variance_.data(), place_.data(), block_.data(),
         size_.data()});
    device::check(cudaGetLastError());
    summary_.size.resize(clusters_);
    size_.download(summary_.size);
    on.wait();
    summary_.largest = *std::max_element(summary_.size.begin(), summary_.size.end());
}

void fitter::find_blocks(const member_lists& members, const device::stream& on) {
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

    std::uint32_t from = 0;
    while (from < clusters_) {
        // Takes as many clusters at once as there is room for their pieces.
        std::vector<scatter_piece> pieces;
        std::vector<std::uint64_t> first;
        std::vector<std::uint32_t> count;
        std::uint64_t used = 0;
        std::uint32_t edge_most = 0;
        std::uint32_t k = from;
        for (; k < clusters_; ++k) {
            const std::uint64_t edge = device_fits::edge_of(summary_.size[k]);
            const std::vector<piece> own = pieces_of(
                members, k,
                std::max(least_scatter_spikes, members.of(k).size() / most_scatter_pieces + 1));
            if (k > from && used + own.size() * edge * edge > most_scatter_numbers) break;
            first.push_back(used);
            count.push_back(static_cast<std::uint32_t>(own.size()));
            edge_most = std::max(edge_most, static_cast<std::uint32_t>(edge));
            const auto tiles = static_cast<std::uint32_t>((edge + scatter_tile - 1) / scatter_tile);
            for (const piece& one : own) {
                for (std::uint32_t i = 0; i < tiles; ++i)
                    for (std::uint32_t j = 0; j <= i; ++j) pieces.push_back({one, i, j, used});
                used += edge * edge;
            }
        }
        if (!pieces.empty()) {
            make_room(scatter_, used, on);
            const device::buffer<scatter_piece> uploaded(pieces, on);
            const device::buffer<std::uint64_t> first_of(first, on);
            const device::buffer<std::uint32_t> pieces_each(count, on);
            sum_squares<<<static_cast<unsigned>(pieces.size()), threads, 0, on.get()>>>(
                rows, fits(), spikes_.data(), uploaded.data(), scatter_.data());
            device::check(cudaGetLastError());
            add_up_squares<<<dim3(k - from, edge_most / matrix_tile), threads, 0, on.get()>>>(
                {scatter_.data(), first_of.data(), pieces_each.data(), counts_.data(), eta_.data(),
                 rows.noise_variance, prior_, from, covariance_.data()},
                fits());
            device::check(cudaGetLastError());
        }
        from = k;
    }
    // The products of inverses and means are not computed yet, so their memory can hold what may be
    // added to diagonals.
    find_more<<<clusters_, threads, 0, on.get()>>>(fits(), counts_.data(), rows.noise_variance,
                                                   prior_, inverse_times_mean_.data());
    device::check(cudaGetLastError());
    double* const plain = numbers_.data();
    double* const log_determinant = plain + 3 * std::size_t{clusters_};
    invert({clusters_, size_.data(), matrix_.data(), covariance_.data(), inverse_times_mean_.data(),
            rows.features, root_inverse_.data(), inverse_.data(), log_determinant},
           on);
    derive<<<clusters_, threads, 0, on.get()>>>(
        {counts_.data(), rows.noise_variance, more_variance_.data(), log_determinant, prior_,
         inverse_diagonal_.data(), inverse_times_mean_.data(), plain, plain + clusters_,
         plain + 2 * std::size_t{clusters_}, plain + 3 * std::size_t{clusters_}},
        fits());
    device::check(cudaGetLastError());
    std::vector<double> found(numbers_each * clusters_);
    numbers_.download(std::span{found});
    on.wait();
    const auto part = [&](std::size_t which) {
        const auto begin = found.begin() + static_cast<std::ptrdiff_t>(which * clusters_);
        return std::vector<double>(begin, begin + clusters_);
    };
    summary_.plain = part(0);
    summary_.at_noise = part(1);
    summary_.cancelling = part(3);
}

std::vector<cluster_model> fitter::models(const std::vector<double>& noise_variance) const {
    const std::size_t features = data_->rows().features;
    const std::vector<double> mean = mean_.downloaded();
    const std::vector<std::uint32_t> block = block_.downloaded();
    const std::vector<double> covariance = covariance_.downloaded();
    const std::vector<double> counts = counts_.downloaded();
    const std::vector<double> more_variance = more_variance_.downloaded();
    std::vector<cluster_model> all(clusters_);
    for (std::size_t k = 0; k < clusters_; ++k) {
        const auto row = [&](const auto& of, std::size_t count) {
            const auto begin = of.begin() + static_cast<std::ptrdiff_t>(k * features);
            return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
        };
        const std::size_t size = summary_.size[k];
        const std::size_t edge = device_fits::edge_of(summary_.size[k]);
        cluster_model& model = all[k];
        model.mean = row(mean, features);
        model.block = row(block, size);
        model.covariance.resize(size * size);
        const double scale = (counts[k] + prior_) / (counts[k] + prior_ - 1);
        for (std::size_t i = 0; i < features; ++i)
            model.variance.push_back(noise_variance[i] * scale + more_variance[k * features + i]);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j)
                model.covariance[i * size + j] =
                    covariance[matrix_at_[k] + std::max(i, j) * edge + std::min(i, j)];
            model.variance[model.block[i]] = model.covariance[i * size + i];
        }
    }
    return all;
}

}  // namespace spikeweave::masked_gmm
