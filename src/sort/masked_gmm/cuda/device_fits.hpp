#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda.hpp"
#include "sort/masked_gmm/cuda/resident_data.hpp"
#include "sort/masked_gmm/member_lists.hpp"

namespace spikeweave::masked_gmm {

/// Edge of the tiles in which matrices are processed. The edges of matrices are multiples of it.
inline constexpr std::uint32_t matrix_tile = 32;

/// The `cluster_fit`s in the memory of a GPU, with one row of `features` numbers per cluster. The
/// matrix of a block has `edge` rows; those from `size` on are rows of the identity.
struct device_fits {
    std::uint32_t clusters;
    std::uint32_t features;
    const double* mean;
    const double* inverse_diagonal;
    const double* inverse_times_mean;
    const std::int32_t* block_index;
    const std::uint32_t* block;
    const std::uint32_t* size;
    const std::uint64_t* matrix;  ///< index of the first number of each matrix
    const double* covariance;     ///< lower triangle
    const double* root_inverse;   ///< lower triangle, 0 above
    const double* inverse;
    const double* plain;  ///< without the weight; infinite for a dead cluster
    const double* at_noise;
    const double* at_noise_outside;
    const double* cancelling;

    __host__ __device__ static std::uint32_t edge_of(std::uint32_t size) {
        return (size + matrix_tile - 1) / matrix_tile * matrix_tile;
    }
};

/// The numbers of the fits that the host needs.
struct fit_summary {
    std::vector<std::uint32_t> size{};
    std::vector<double> plain{};
    std::vector<double> at_noise{};
    std::vector<double> cancelling{};
    std::uint32_t largest = 0;  ///< largest of the sizes

    bool dead(std::size_t cluster) const;
};

/// Runs M-steps that reuse the same memory. The order of the sums depends on the members alone, so
/// results are reproducible.
class fitter {
public:
    /// Largest number of features of a spike: the sums over them have to fit into shared memory.
    static std::size_t most_features(const device::device_limits& limits);

    fitter(const resident_data& data, const masked_gmm_options& options);

    /// Fits without weights: `plain` lacks the term -ln(weight).
    /// @param members  of each cluster; no cluster is empty
    const fit_summary& fit(const member_lists& members, const device::stream& on);
    const fit_summary& summary() const { return summary_; }
    /// The last fit; valid until the next one.
    device_fits fits() const;
    /// The members of the last fit, in their order.
    const std::uint32_t* members() const { return spikes_.data(); }
    /// The complete models of the last fit, without weights, in coordinates relative to the noise
    /// mean.
    std::vector<cluster_model> models(const std::vector<double>& noise_variance) const;

private:
    void find_means(const member_lists& members, const device::stream& on);
    // Lets the kernel that sums over members use the shared memory that it needs.
    static void allow_sums(const device_rows& rows);
    void find_covariances(const member_lists& members, const device::stream& on);
    // Returns what is added to the diagonals of covariances that rounding made invalid.
    double* find_more_variance(const device::stream& on);
    void find_inverses(const device::stream& on);

    const resident_data* data_;
    double prior_;
    double points_;
    bool exact_;
    std::uint32_t clusters_ = 0;
    fit_summary summary_;
    std::vector<std::uint64_t> matrix_at_;
    device::buffer<std::uint32_t> spikes_;
    device::buffer<double> counts_;
    device::buffer<double> sums_;
    device::buffer<double> mean_;
    device::buffer<double> eta_;
    device::buffer<double> more_variance_;
    device::buffer<double> inverse_diagonal_;
    device::buffer<double> inverse_times_mean_;
    device::buffer<std::int32_t> block_index_;
    device::buffer<std::uint32_t> block_;
    device::buffer<std::uint32_t> size_;
    device::buffer<std::uint64_t> matrix_;
    device::buffer<double> scatter_;
    device::buffer<double> covariance_;
    device::buffer<double> root_inverse_;
    device::buffer<double> inverse_;
    device::buffer<double> numbers_;  // plain, at_noise, at_noise_outside, cancelling
};

/// Makes `memory` at least `size` long. Its content is lost.
template <class T>
void make_room(device::buffer<T>& memory, std::size_t size, const device::stream& on) {
    if (memory.size() < size) memory = device::buffer<T>(size + size / 4, on);
}

}  // namespace spikeweave::masked_gmm
