#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda.hpp"
#include "sort/masked_gmm/cuda/resident_data.hpp"
#include "sort/masked_gmm/member_lists.hpp"

namespace spikeweave::masked_gmm {

/// Edge of the tiles that matrices are worked on in; theirs are multiples of it.
inline constexpr std::uint32_t matrix_tile = 32;

/// `cluster_fit`s in the memory of a GPU, one row of `features` numbers a cluster. A block's
/// matrix has `edge` rows, the first `size` of which are its own; the others are the identity's.
struct device_fits {
    std::uint32_t clusters;
    std::uint32_t features;
    const double* mean;
    const double* inverse_diagonal;
    const double* inverse_times_mean;
    const std::int32_t* place;
    const std::uint32_t* block;
    const std::uint32_t* size;
    const std::uint64_t* matrix;  ///< where each one's begin
    const double* covariance;     ///< lower triangle
    const double* root_inverse;   ///< lower triangle, 0 above
    const double* inverse;
    const double* plain;  ///< without the weight; infinite of a dead cluster
    const double* at_noise;
    const double* at_noise_outside;
    const double* cancelling;

    __host__ __device__ static std::uint32_t edge_of(std::uint32_t size) {
        return (size + matrix_tile - 1) / matrix_tile * matrix_tile;
    }
};

/// What the host needs of them.
struct fit_summary {
    std::vector<std::uint32_t> size{};
    std::vector<double> plain{};
    std::vector<double> at_noise{};
    std::vector<double> cancelling{};
    std::uint32_t largest = 0;  ///< of the sizes

    bool dead(std::size_t cluster) const;
};

/// The M-step, over and over in the same memory. The sums' order follows the members alone, so that
/// an answer is the same at every time.
class fitter {
public:
    /// Of a spike: their sums have to fit into shared memory.
    static std::size_t most_features(const device::device_limits& limits);

    fitter(const resident_data& data, const masked_gmm_options& options);

    /// @param members  of each cluster; none is without
    /// The weights are not in it: `plain` lacks -ln of them.
    const fit_summary& fit(const member_lists& members, const device::stream& on);
    const fit_summary& summary() const { return summary_; }
    /// Of the last fit, as long as there is no other.
    device_fits fits() const;
    /// The members of the last fit, in their order.
    const std::uint32_t* members() const { return spikes_.data(); }
    /// The last fit's in full, without weights, in coordinates from the noise's mean.
    std::vector<cluster_model> models(const std::vector<double>& noise_variance) const;

private:
    void find_means(const member_lists& members, const device::stream& on);
    void find_blocks(const member_lists& members, const device::stream& on);

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
    device::buffer<std::int32_t> place_;
    device::buffer<std::uint32_t> block_;
    device::buffer<std::uint32_t> size_;
    device::buffer<std::uint64_t> matrix_;
    device::buffer<double> scatter_;
    device::buffer<double> covariance_;
    device::buffer<double> root_inverse_;
    device::buffer<double> inverse_;
    device::buffer<double> numbers_;  // plain, at_noise, at_noise_outside, cancelling
};

/// Makes room for at least `size`, which is not kept.
template <class T>
void make_room(device::buffer<T>& memory, std::size_t size, const device::stream& on) {
    if (memory.size() < size) memory = device::buffer<T>(size + size / 4, on);
}

}  // namespace spikeweave::masked_gmm
