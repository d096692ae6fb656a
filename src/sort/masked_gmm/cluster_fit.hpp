#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/masked_gmm/member_lists.hpp"
#include "sort/masked_gmm/sparse_data.hpp"

namespace spikeweave::masked_gmm {

/// A cluster's Gaussian, in coordinates from the noise's mean, with all that its densities take.
///
/// -ln of density times weight is plain + (quadratic + eta) / 2 with everything that does not
/// depend on the spike in `plain`.
struct cluster_fit {
    double weight = 0;
    /// Its covariance has no root: no spike can be of it.
    bool dead = false;
    double plain = 0;
    /// The quadratic form at the noise's mean.
    double at_noise = 0;
    /// Its terms without their signs: how large what cancels is in a form written out around there.
    double cancelling = 0;
    /// The part of it that features outside of the block have.
    double at_noise_outside = 0;
    std::vector<std::uint32_t> block{};
    std::vector<std::int32_t> place{};  ///< of each feature in the block, -1 outside
    std::vector<double> mean{};
    std::vector<double> inverse_diagonal{};
    std::vector<double> inverse_times_mean{};
    Eigen::MatrixXd root_inverse{};  ///< lower triangle W with W' W = inverse
    Eigen::MatrixXd inverse{};
    Eigen::MatrixXd covariance{};    ///< of the block; only when asked for
    std::vector<double> variance{};  ///< the same
};

/// Sets what follows from mean, block, place, inverse and its diagonal.
void write_out_around_noise(cluster_fit& fit);

struct fit_rules {
    const masked_gmm_options* options = nullptr;
    /// Of the weights.
    double denominator = 1;
    bool keep_covariance = false;
};

/// One M-step: each list of spikes, none of which is empty, as a cluster. Sums have a fixed order.
std::vector<cluster_fit> fit_clusters(const sparse_data& data,
                                      const std::vector<member_list>& clusters,
                                      const fit_rules& rules, const execution& run);

/// -ln of density times weight of each spike, from residuals: nothing cancels, whatever the
/// cluster.
void costs_in(const sparse_data& data, const cluster_fit& fit, member_list spikes,
              std::span<double> costs);

}  // namespace spikeweave::masked_gmm
