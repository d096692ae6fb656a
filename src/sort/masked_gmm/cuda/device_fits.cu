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
#include "sort/masked_gmm/cuda/block_threads.cuh"
#include "sort/masked_gmm/cuda/device_fits.hpp"

namespace spikeweave::masked_gmm {
namespace {

// Returns the sum over a block of threads, added in a fixed order.
__device__ double block_sum(double own, double (&partial_sums)[threads]) {
    __syncthreads();
    partial_sums[threadIdx.x] = own;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial_sums[threadIdx.x] += partial_sums[threadIdx.x + half];
    }
    __syncthreads();
    return partial_sums[0];
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
    __shared__ double partial_sums[threads];
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
        const std::int32_t at = fits.block_index[row + i];
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
    log_determinant = block_sum(log_determinant, partial_sums);
    traced = block_sum(traced, partial_sums);
    outside = block_sum(outside, partial_sums);
    cancelling = block_sum(cancelling, partial_sums);
    inside = block_sum(inside, partial_sums);
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

fitter::fitter(const resident_data& data, const masked_gmm_options& options)
    : data_(&data),
      prior_(options.prior_point),
      points_(options.points_for_cluster_mask),
      exact_(options.exact_variances) {
    allow_sums(data.rows());
}

device_fits fitter::fits() const {
    const double* const numbers = numbers_.data();
    return {clusters_,
            data_->rows().features,
            mean_.data(),
            inverse_diagonal_.data(),
            inverse_times_mean_.data(),
            block_index_.data(),
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
    make_room(block_index_, numbers, on);
    make_room(block_, numbers, on);
    make_room(size_, clusters_, on);
    make_room(matrix_, clusters_, on);
    make_room(numbers_, numbers_each * clusters_, on);
    if (clusters_ == 0) return summary_ = {};
    find_means(members, on);
    find_covariances(members, on);
    find_inverses(on);
    return summary_;
}

void fitter::find_inverses(const device::stream& on) {
    const device_rows rows = data_->rows();
    double* const plain = numbers_.data();
    double* const log_determinant = plain + 3 * std::size_t{clusters_};
    invert({clusters_, size_.data(), matrix_.data(), covariance_.data(), find_more_variance(on),
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
