#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/masked_gmm/member_lists.hpp"
#include "sort/masked_gmm/sparse_data.hpp"

namespace spikeweave::masked_gmm {

/// The Gaussian of a cluster, in coordinates relative to the noise mean, with everything that its
/// densities need.
///
/// -ln(density * weight) is plain + (quadratic + eta) / 2; `plain` holds all terms that do not
/// depend on the spike.
struct cluster_fit {
    double weight = 0;
    /// Set if its covariance is not positive definite. No spike is assigned to a dead cluster.
    bool dead = false;
    double plain = 0;
    /// The quadratic form at the noise mean.
    double at_noise = 0;
    /// The same with the absolute value of each term: how much can cancel when the form is expanded
    /// around the noise mean.
    double cancelling = 0;
    /// The part of `at_noise` from features outside the block.
    double at_noise_outside = 0;
    std::vector<std::uint32_t> block{};
    std::vector<std::int32_t> block_index{};  ///< index of each feature in the block, or -1
    std::vector<double> mean{};
    std::vector<double> inverse_diagonal{};
    std::vector<double> inverse_times_mean{};
    Eigen::MatrixXd root_inverse{};  ///< lower triangle W with W' W = inverse
    Eigen::MatrixXd inverse{};
    Eigen::MatrixXd covariance{};    ///< covariance of the block; set only if requested
    std::vector<double> variance{};  ///< variance of every feature; set only if requested
};

/// Sets the members that follow from mean, block, block_index, inverse and its diagonal.
void write_out_around_noise(cluster_fit& fit);

struct fit_rules {
    const masked_gmm_options* options = nullptr;
    /// The denominator of the weights.
    double denominator = 1;
    bool keep_covariance = false;
};

/// Runs one M-step, in which each list of spikes is a cluster; no list may be empty. Sums have a
/// fixed order.
std::vector<cluster_fit> fit_clusters(const sparse_data& data,
                                      const std::vector<member_list>& clusters,
                                      const fit_rules& rules, const execution& run);

/// Computes -ln(density * weight) of each spike from residuals, so that nothing cancels.
void costs_in(const sparse_data& data, const cluster_fit& fit, member_list spikes,
              std::span<double> costs);

/// The rules by which the groups passed to `evaluate` are formed.
inline constexpr group_rules cpu_groups{.gather_cost = 6, .looked_at = 256};

/// Finds the two clusters with the lowest cost for each spike. `fits` are clusters 1, 2, …; 0 is
/// noise.
assignment evaluate(const sparse_data& data, const std::vector<cluster_fit>& fits,
                    double noise_cost, const execution& run);

}  // namespace spikeweave::masked_gmm
